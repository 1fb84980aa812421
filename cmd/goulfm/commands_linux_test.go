package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/clihelp"
)

// internalFlags are flags that only goulfm itself uses, for processes that another goulfm starts.
var internalFlags = []string{"doctor peer"}

// TestEveryCommandIsEverywhere requires each command in goulfm help, in the completion of each
// shell and in the man pages. A command that depends on the machine must also occur in the findings
// of goulfm doctor.
func TestEveryCommandIsEverywhere(t *testing.T) {
	list, proposed := goulfmCommand(t, "", "help").out, completions(t, "goulfm ")
	zsh, fish := goulfmCommand(t, "", "completion", "zsh").out, goulfmCommand(t, "", "completion", "fish").out
	overview := goulfmCommand(t, "", "man").out
	findings := goulfmCommand(t, "", "doctor").out
	var names []string
	for _, c := range subcommands() {
		names = append(names, c.name)
		assert.NotNil(t, c.run, c.name)
		assert.True(t, c.synopsis == c.name || strings.HasPrefix(c.synopsis, c.name+" "), c.synopsis)
		assert.Contains(t, list, "\n  goulfm "+c.synopsis+" ")
		assert.Contains(t, list, " "+c.short+"\n")
		assert.Contains(t, zsh, "'"+c.name+":")
		assert.Contains(t, zsh, "\t\t"+c.name+")\n")
		assert.Contains(t, fish, " -a "+c.name+" -d ")
		assert.Contains(t, overview, ".BR goulfm\\-"+c.name+" (1)")
		requirePage(t, goulfmCommand(t, "", "man", c.name), "goulfm-"+c.name)
		if c.doctor != "" {
			assert.Regexp(t, `(?m)^(ok|warning|error) +`+c.doctor+`: `, findings, c.name)
		}
	}
	assert.ElementsMatch(t, names, proposed)
	for _, command := range []string{"man", "help"} {
		assert.ElementsMatch(t, names, completions(t, "goulfm "+command+" "))
	}
	requirePage(t, goulfmCommand(t, "", "man"), "goulfm")
	for _, wrong := range []string{"man what", "man run run", "completion", "completion sh", "completion bash zsh", "help run new", "what"} {
		got := goulfmCommand(t, "", strings.Fields(wrong)...)
		assert.Equal(t, 2, got.code, wrong)
		assert.Empty(t, got.out, wrong)
	}
}

// requirePage requires the sections of a man page, and only macros and escapes of man(7).
func requirePage(t *testing.T, got result, name string) {
	t.Helper()
	require.Zero(t, got.code, got.err)
	at := 0
	for _, part := range []string{".TH \"" + strings.ToUpper(strings.ReplaceAll(name, "-", `\-`)) + "\" 1 ", "\n.SH NAME\n" + strings.ReplaceAll(name, "-", `\-`) + ` \- `,
		"\n.SH SYNOPSIS\n", "\n.SH DESCRIPTION\n", "\n.SH OPTIONS\n", "\n.SH EXAMPLES\n", "\n.SH SEE ALSO\n"} {
		next := strings.Index(got.out[at:], part)
		require.GreaterOrEqual(t, next, 0, "%s: no %q in its place", name, part)
		at += next
	}
	for line := range strings.Lines(got.out) {
		assert.NotRegexp(t, `^'`, line, name)
		if !strings.HasPrefix(line, `.\"`) {
			assert.NotRegexp(t, `\\[^-e&f(]|[^\\]-|^-`, line, name)
		}
		if strings.HasPrefix(line, ".") {
			assert.Regexp(t, `^\.(TH|SH|SS|TP|PP|RS|RE|nf|fi|BR|\\")\b`, strings.Replace(line, `.\"`, ".PP", 1), name)
		}
	}
	for _, formatter := range [][]string{{"groff", "-man", "-Tascii", "-ww"}, {"mandoc", "-T", "lint", "-W", "error"}} {
		if _, err := exec.LookPath(formatter[0]); err != nil {
			t.Logf("%s: not checked: %v", name, err)
			continue
		}
		cmd := limited(t, formatter[0], formatter[1:]...)
		cmd.Stdin = strings.NewReader(got.out)
		assert.Empty(t, outcome(t, cmd).err, name)
	}
}

// TestEveryFlagIsEverywhere requires each declared flag in the help text, the man page and the
// completion of its command, with a value if the flag takes one; and no other flag there.
func TestEveryFlagIsEverywhere(t *testing.T) {
	zsh := goulfmCommand(t, "", "completion", "zsh").out
	fish := goulfmCommand(t, "", "completion", "fish").out
	count := 0
	for _, c := range subcommands() {
		flags := c.flagSet()
		page := goulfmCommand(t, "", "man", c.name).out
		_, branch, _ := strings.Cut(zsh, "\t\t"+c.name+")\n")
		branch, _, _ = strings.Cut(branch, ";;")
		proposed := append(completions(t, "goulfm "+c.name+" -"), completions(t, "goulfm "+c.name+" --")...)
		documented := map[string]clihelp.Item{}
		for _, item := range c.help().Flags() {
			for _, name := range item.Names {
				documented[strings.TrimLeft(name, "-")] = item
				assert.NotNil(t, flags.Lookup(strings.TrimLeft(name, "-")), "%s has no flag %s", c.name, name)
			}
		}
		flags.VisitAll(func(f *flag.Flag) {
			if slices.Contains(internalFlags, c.name+" "+f.Name) {
				assert.NotContains(t, documented, f.Name)
				return
			}
			count++
			item, ok := documented[f.Name]
			if !assert.True(t, ok, "the help text of %s lacks -%s", c.name, f.Name) {
				return
			}
			boolean, isBool := f.Value.(interface{ IsBoolFlag() bool })
			assert.Equal(t, isBool && boolean.IsBoolFlag(), item.Value == "", "%s -%s: the help text has the value %q", c.name, f.Name, item.Value)
			assert.Regexp(t, `(?m)^\\fB.*\\-`+strings.ReplaceAll(f.Name, "-", `\\-`)+`\\fR`, page, "man page of %s: -%s", c.name, f.Name)
			assert.Regexp(t, `(?m)^-{1,2}`+f.Name+`$`, strings.Join(proposed, "\n"), c.name)
			assert.Regexp(t, `[ )*'|]--?`+f.Name+`=?\[`, branch, "zsh: %s -%s", c.name, f.Name)
			assert.Regexp(t, `(?m)^complete -c goulfm -n '__goulfm_command `+c.name+`'.* -[slo] `+f.Name+` `, fish, "fish: %s -%s", c.name, f.Name)
		})
	}
	assert.Greater(t, count, 100)
}

// TestClosedSets requires that a command refuses a value outside of a closed set of its help text,
// and that the error names each value of the set.
func TestClosedSets(t *testing.T) {
	sets := 0
	for _, c := range subcommands() {
		if c.name == "daemon" { // the flags of goulfm run
			continue
		}
		for _, item := range c.help().Flags() {
			kind, words := clihelp.KindOf(item.Value)
			if kind != clihelp.Words {
				continue
			}
			sets++
			args := []string{c.name, item.Names[0], "nonsense"}
			if c.name == "run" {
				args = append(args, "--host", "1", prog, "ring")
			}
			got := goulfmCommand(t, "", args...)
			assert.Equal(t, 2, got.code, args)
			for _, word := range words {
				assert.Regexp(t, `\b`+word+`\b`, got.err, "%v", args)
			}
		}
	}
	assert.Equal(t, 8, sets)
}

// wordBreaks splits a word as bash does for COMP_WORDS.
var wordBreaks = regexp.MustCompile(`[=:@]+|[^=:@]+`)

// completions returns the proposals of the script for bash at the end of a line.
func completions(t *testing.T, line string) []string {
	t.Helper()
	return completionsIn(t, t.TempDir(), line)
}

func completionsIn(t *testing.T, dir, line string) []string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the script is for bash:", err)
	}
	var words []string
	for _, word := range strings.Fields(line) {
		words = append(words, wordBreaks.FindAllString(word, -1)...)
	}
	if strings.HasSuffix(line, " ") {
		words = append(words, "")
	}
	const call = `source <("$0" completion bash) || exit 1
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
function=$(complete -p goulfm | sed 's/.*-F \([^ ]*\).*/\1/')
"$function"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"`
	cmd := limited(t, "bash", append([]string{"--norc", "-c", call, goulfm, line}, words...)...)
	cmd.Dir = dir
	got := outcome(t, cmd)
	require.Zero(t, got.code, got.err)
	require.Empty(t, got.err, line)
	return strings.FieldsFunc(got.out, func(r rune) bool { return r == '\n' })
}

// TestBashCompletion runs the script for bash.
func TestBashCompletion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"heat", "hosts", "with space", "folder/inner"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	all := []string{"heat", "hosts", "with space", "folder"}
	for line, want := range map[string][]string{
		"goulfm w":                                {"watch"},
		"goulfm what ":                            nil,
		"goulfm run --det":                        {"--detector", "--detection"},
		"goulfm run --detector ":                  {"exact", "ring"},
		"goulfm run -detector r":                  {"ring"},
		"goulfm run --detector=":                  {"exact", "ring"},
		"goulfm run --detector=e":                 {"exact"},
		"goulfm run --secure ":                    {"tls", "auth"},
		"goulfm run --agree ":                     {"node", "era"},
		"goulfm run --launcher ":                  {"local", "ssh", "slurm"},
		"goulfm run --survive ":                   {"killed", "any", "none"},
		"goulfm run --report ":                    {"json"},
		"goulfm run -n ":                          nil,
		"goulfm run --kill 3@":                    nil,
		"goulfm run --hostfile ":                  all,
		"goulfm run --hostfile=ho":                {"hosts"},
		"goulfm run --output-dir ":                {"folder"},
		"goulfm run ":                             all,
		"goulfm run -n 4 he":                      {"heat"},
		"goulfm run --tag -n=4 he":                {"heat"},
		"goulfm run --host a:2,b:2 he":            {"heat"},
		"goulfm run --kill 3@step=40 --surv":      {"--survive", "--survive-launcher"},
		"goulfm run heat --surv":                  nil,
		"goulfm run heat ":                        all,
		"goulfm run -n 4 heat --detector ":        all,
		"goulfm daemon --ppn 2 -- he":             {"heat"},
		"goulfm daemon --host":                    nil,
		"goulfm sim -agreements-":                 {"-agreements-total"},
		"goulfm sim --agreements-":                {"--agreements-total"},
		"goulfm sim -detector ":                   {"drawn", "exact", "ring", "wild"},
		"goulfm sim -svg ho":                      {"hosts"},
		"goulfm new -replace ":                    {"folder"},
		"goulfm new ":                             nil,
		"goulfm watch --socket ":                  all,
		"goulfm checkpoint ":                      {"ls", "verify", "rm"},
		"goulfm checkpoint ls ":                   {"folder"},
		"goulfm checkpoint verify folder ":        nil,
		"goulfm completion ":                      {"bash", "zsh", "fish"},
		"goulfm version -":                        {"-h"},
		"goulfm doctor --hostfile folder/":        {"folder/inner"},
		"goulfm doctor --rsh rsh --daemon-path f": {"folder"},
	} {
		assert.ElementsMatch(t, want, completionsIn(t, dir, line), strconv.Quote(line))
	}
}
