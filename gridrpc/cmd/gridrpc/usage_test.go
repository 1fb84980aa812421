package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// TestMistakes: a wrong command line is answered by one line that names the mistake and the
// remedy, with exit code 2.
func TestMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"":                                   "a command is missing",
		"cal square 3":                       `no command "cal": did you mean call?`,
		"frobnicate":                         `no command "frobnicate"`,
		"help cal":                           `no command "cal"`,
		"call":                               "an argument is missing",
		"call square 3 --watch":              "--watch after an argument: flags come first",
		"call square 3 4":                    "too many arguments",
		"call --wacth square":                "--wacth: no such flag: did you mean --watch?",
		"call --timeout 5 square":            "--timeout 5: want a duration such as 5s",
		"call --keep":                        "--keep: a value is missing",
		"call square {n:1}":                  "argument {n:1}: not JSON",
		"up":                                 "want a PROGRAM or --program",
		"up --batch pbs --program a=b":       "--batch pbs: want slurm",
		"serve --batch slurm ./x":            "--batch slurm: want slurm, and --program",
		"up --program a=b ./x":               "want a PROGRAM or --program",
		"up --masters two ./x":               "--masters two: want a whole number",
		"up --masters 2 ./x":                 "--masters 2: want 1, 3 or 5",
		"up --ancestors 0 ./x":               "--ancestors 0: want 1 to 64",
		"up --ancestors 4 --observers 5 ./x": "--observers 5: want 1 to the number of ancestors, 4",
		"up --tree 2y2 ./x":                  "--tree 2y2: want numbers",
		"up --no-restart=maybe ./x":          "--no-restart maybe: want true or false",
		"up --program solve ./x":             `--program solve: want SERVICE=PROGRAM ARGUMENT`,
		"serve":                              "want a PROGRAM or --program",
		"ls now":                             "too many arguments",
		"tree now":                           "too many arguments",
		"top now":                            "too many arguments",
		"attach --cancel":                    "--cancel: want the ID of a call",
		"token":                              "an argument is missing",
		"token nwe":                          `no command "token nwe": did you mean token new?`,
		"token revoke":                       "an argument is missing",
		"ckpt":                               "an argument is missing",
		"ckpt rm":                            "an argument is missing",
		"ckpt list":                          `no command "ckpt list": did you mean ckpt ls?`,
		"ckpt notify now":                    "too many arguments",
		"master --tier x":                    "--tier x: want a whole number",
		"up --port 1 ./x":                    "--port: no such flag",
	} {
		cmd := exec.Command(built().gridrpc, strings.Fields(line)...)
		out, err := cmd.CombinedOutput()
		assert.Error(t, err, line)
		assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s: %s", line, out)
		assert.Contains(t, string(out), want, line)
		assert.Equal(t, 1, strings.Count(string(out), "\n"), "%s: %s", line, out)
		assert.Contains(t, string(out), "gridrpc ", "%s: the remedy", line)
	}
}

// typedFlag is a declaration of a flag of a number or a duration.
var typedFlag = regexp.MustCompile(`\b\w+\.(Int|Duration)(?:Var\([^"]*|\()"([\w-]+)"`)

// TestEveryFlagNamesItsForm: each command explains a value that none of its flags of numbers and
// durations takes, and each of these flags belongs to a command.
func TestEveryFlagNamesItsForm(t *testing.T) {
	forms := map[string]string{"Int": "a whole number", "Duration": "a duration such as 5s"}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	types := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range typedFlag.FindAllStringSubmatch(string(text), -1) {
			types[m[2]] = m[1]
		}
	}
	assert.Greater(t, len(types), 15, "%v", types)
	for name, kind := range types {
		known := 0
		for _, v := range verbs {
			if v.name == "free" { // ports, no flags
				continue
			}
			err := v.run(t.Context(), []string{"--" + name, "5x"})
			m, ok := errors.AsType[mistake](err)
			if !assert.True(t, ok, "%s --%s: %v", v.name, name, err) || strings.Contains(m.text, "no such flag") {
				continue
			}
			known++
			assert.Equal(t, "--"+name+" 5x: want "+forms[kind], m.text, v.name)
		}
		assert.Positive(t, known, "no command has --%s", name)
	}
}

// TestHelp: each command has a help that lists its flags, by -h and by help.
func TestHelp(t *testing.T) {
	run := func(args ...string) string {
		out, err := exec.Command(built().gridrpc, args...).Output()
		require.NoError(t, err, args)
		return string(out)
	}
	all := run("help")
	assert.Equal(t, all, run("-h"))
	for _, v := range verbs {
		if v.hidden {
			assert.NotContains(t, all, "gridrpc "+v.name)
			continue
		}
		assert.Contains(t, all, "gridrpc "+v.name)
		text := run(append(strings.Fields(v.name), "-h")...)
		assert.Equal(t, text, run(append([]string{"help"}, strings.Fields(v.name)...)...))
		assert.True(t, strings.HasPrefix(text, "gridrpc "+v.name), text)
	}
	assert.Contains(t, run("up", "-h"), "--masters N")
	assert.Contains(t, run("version"), "gridrpc ")
}

// TestNoPlatform: commands that need a platform report in one line that there is none, or that no
// process of it is left.
func TestNoPlatform(t *testing.T) {
	p := newTrial(t)
	for _, args := range [][]string{{"ls"}, {"tree"}, {"top"}, {"attach"}, {"call", "square", "3"}} {
		_, errs, err := p.command(args...)
		require.Error(t, err)
		assert.Contains(t, errs, "no platform in "+p.dir+`: start one with "gridrpc up"`)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	}
	require.NoError(t, os.MkdirAll(p.dir, 0o700))
	authority, err := link.NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, authority.Save(p.dir))
	require.NoError(t, authority.Issue(p.dir, link.Client, discovery.ClientName))
	require.NoError(t, discovery.SaveMasters(p.dir, "127.0.0.1:1"))
	_, errs, err := p.command("call", "--timeout", "2s", "square", "3")
	require.Error(t, err)
	assert.Contains(t, errs, "127.0.0.1:1: its machine refuses connections")
	assert.NotContains(t, errs, "rpc error")
}

// TestServiceMisspelt: a call of an unknown service fails at once and names an offered service with
// almost the same name. Other callers get an event while they wait for an unknown service.
func TestServiceMisspelt(t *testing.T) {
	p := startTrial(t, "--tree", "1x1")
	_, errs, err := p.command("call", "--timeout", "1m", "sqare", "3")
	require.Error(t, err)
	assert.Contains(t, errs, `no such service: no server offers sqare: did you mean square?`)
	assert.Equal(t, 1, strings.Count(errs, "\n"), errs)

	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var told gridrpc.Event
	_, err = gridrpc.Service[float64, where](p.dial(), "nothing-like-it").Call(ctx, new(3.0), gridrpc.Watch(func(e gridrpc.Event) {
		told = e
		cancel()
	}))
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, gridrpc.Unoffered, told.What)
	assert.Len(t, told.Near, 3)
	assert.Contains(t, told.String(), "no server offers the service")
}

// TestProgramMissing: a missing server program is named before any process starts.
func TestProgramMissing(t *testing.T) {
	p := newTrial(t)
	missing := filepath.Join(t.TempDir(), "none")
	out, errs, err := p.command("up", missing)
	require.Error(t, err)
	assert.Contains(t, errs, "PROGRAM "+missing+": no such file or directory")
	assert.Empty(t, out)
}
