package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// A page executes a page of the documentation as a reader does: its blocks in order, in an empty
// folder.
//
//   - A Go block begins with a comment that names the file to write.
//   - A block ```sh is commands.
//   - A block ```console has commands after "$ ", and below each command its output. Lines may come
//     in any order, as lines of ranks do, and "..." stands for any text.
//
// GOULFM is the folder of this checkout, from which the pages take modules and commands.
type page struct {
	dir string // working folder of the next command
	env []string
}

func newPage(t *testing.T) *page {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	bin := t.TempDir()
	return &page{
		dir: t.TempDir(),
		env: append(os.Environ(), "CGO_ENABLED=0", "GOULFM="+root, "GOBIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"), "GOWORK=off"),
	}
}

var blocks = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// follow executes all blocks of a page's text.
func (p *page) follow(t *testing.T, text string) {
	t.Helper()
	for _, m := range blocks.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "go":
			p.write(t, m[2])
		case "sh":
			p.run(t, m[2])
		case "console":
			p.transcript(t, m[2])
		case "text":
		default:
			t.Errorf("a block of kind %q cannot be run: want go, sh, console or text\n%s", m[1], m[2])
		}
	}
}

func (p *page) write(t *testing.T, code string) {
	t.Helper()
	first, _, _ := strings.Cut(code, "\n")
	name, ok := strings.CutPrefix(first, "// ")
	require.True(t, ok && filepath.Ext(name) == ".go", "a block of Go does not begin with the name of its file:\n%s", code)
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte(code), 0o666))
	formatted, err := exec.Command("gofmt", "-l", filepath.Join(p.dir, name)).CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(formatted), "not gofmt-ed: %s", code)
}

func (p *page) transcript(t *testing.T, text string) {
	t.Helper()
	for part := range strings.SplitSeq("\n"+text, "\n$ ") {
		command, want, _ := strings.Cut(part, "\n")
		if strings.TrimSpace(part) == "" {
			continue
		}
		if got := p.run(t, command); !same(want, got) {
			t.Errorf("%s\nprinted:\n%s\nthe page says:\n%s", command, got, want)
		}
	}
}

// run runs a command in a shell. The next command starts in the folder in which the shell ends.
func (p *page) run(t *testing.T, command string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "pwd")
	cmd := limited(t, "bash", "-c", "set -e; "+command+"\npwd > "+at)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", command, out)
	dir, err := os.ReadFile(at)
	require.NoError(t, err)
	p.dir = strings.TrimSpace(string(dir))
	return buildLine.ReplaceAllString(string(out), "")
}

// buildLine matches the line about a build that takes long, which a page does not show.
var buildLine = regexp.MustCompile(`(?m)^goulfm: \+\d+\.\d+s builds .*\n`)

// same reports whether got has exactly the expected lines, in any order. "..." in an expected line
// stands for any text.
func same(want, got string) bool {
	wanted, lines := nonEmpty(want), nonEmpty(got)
	if len(wanted) != len(lines) {
		return false
	}
	for _, w := range wanted {
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(w), `\.\.\.`, ".*") + "$")
		i := slices.IndexFunc(lines, pattern.MatchString)
		if i < 0 {
			return false
		}
		lines = slices.Delete(lines, i, i+1)
	}
	return true
}

func nonEmpty(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
}

func TestSameLines(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"", "", true},
		{"a\nb\n", "b\na\n", true},
		{"a\n", "a\na\n", false},
		{"a\na\n", "a\nb\n", false},
		{"pid ... died\n", "pid 17 died\n", true},
		{"pid ... died\n", "pid 17 died.\n", false},
		{"", "warning\n", false},
	} {
		require.Equal(t, c.same, same(c.want, c.got), fmt.Sprintf("%q and %q", c.want, c.got))
	}
}

// TestTutorial executes the blocks of docs/TUTORIAL.md in order.
func TestTutorial(t *testing.T) {
	longtest.Skip(t, "builds a dozen programs")
	if testing.Short() {
		t.Skip("builds a dozen programs")
	}
	text, err := os.ReadFile("../../docs/TUTORIAL.md")
	require.NoError(t, err)
	newPage(t).follow(t, string(text))
}

// TestReadme runs the quick start of README.md in this checkout, then its program in the module
// that the quick start has made.
func TestReadme(t *testing.T) {
	longtest.Skip(t, "builds programs")
	if testing.Short() {
		t.Skip("builds programs")
	}
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	var program, quick string
	for _, m := range blocks.FindAllStringSubmatch(string(text), -1) {
		switch {
		case strings.HasPrefix(m[2], "package main\n"):
			program = m[2]
		case strings.HasPrefix(m[2], "go install ./cmd/goulfm"):
			quick = m[2]
		}
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	p := newPage(t)
	p.dir = root
	p.env = append(p.env, "TMPDIR="+t.TempDir())
	commands, byHand, _ := strings.Cut(quick, "cd \"$root\"")
	p.run(t, commands)
	p.write(t, "// hello/main.go\n"+program)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "go.sum"), sums, 0o600)) // for the other imports of the program
	require.Contains(t, string(text), "`goulfm run -n 4 ./hello`")
	require.Equal(t, 4, strings.Count(p.run(t, "goulfm run -n 4 ./hello"), "of 4, sum of ranks 6\n"))

	p.dir = root
	_, byHand, _ = strings.Cut(byHand, "\n")
	require.Contains(t, byHand, "-pids")
	p.killByHand(t, byHand)
}

// varying matches the parts of a demo's line that differ from run to run.
var varying = regexp.MustCompile(`\d+(\.\d+)? ms|\+\d+\.\d+s|process \d+`)

// TestReadmeShowsTheDemo compares the output of the demo with the lines that README.md shows.
func TestReadmeShowsTheDemo(t *testing.T) {
	longtest.Skip(t, "runs the demo")
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	p := newPage(t)
	p.dir = root
	printed := nonEmpty(varying.ReplaceAllString(p.run(t, "scripts/demo.sh 8"), "N"))
	shown := 0
	for _, m := range blocks.FindAllStringSubmatch(string(text), -1) {
		if m[1] != "console" {
			continue
		}
		for _, line := range nonEmpty(varying.ReplaceAllString(m[2], "N")) {
			shown++
			pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, ".*") + "$")
			require.True(t, slices.ContainsFunc(printed, pattern.MatchString), "the demo does not print %q but\n%s", line, strings.Join(printed, "\n"))
		}
	}
	require.Greater(t, shown, 4)
}

var killLine = regexp.MustCompile(`^rank 2: kill -9 (\d+)$`)

// killByHand runs a job that prints a kill command for each rank, executes the command of rank 2,
// waits until another process prints one as rank 2, and interrupts the job.
func (p *page) killByHand(t *testing.T, command string) {
	t.Helper()
	cmd := limited(t, "bash", "-c", "exec "+command)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	killed, repaired := "", false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		m := killLine.FindStringSubmatch(lines.Text())
		switch {
		case m == nil:
		case killed == "":
			killed = m[1]
			require.NoError(t, exec.Command("kill", "-9", killed).Run())
		case m[1] != killed:
			repaired = true
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	_ = cmd.Wait() // the exit code is that of an interrupted job
	require.NotEmpty(t, killed, "no rank said how to kill it")
	require.True(t, repaired, "no repair after kill -9")
}
