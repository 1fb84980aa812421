// Package golden plays the scripts in which rules are tested: text files of commands, each
// followed by what came of it. A test runs the commands anew and compares; with -update it
// writes what came of them into the file, to be read before it is committed.
//
// There are two forms. In an indented script a line that starts in the first column is a
// command, a comment (#) or blank, and the indented lines below it are its output. In a
// script of blocks, commands are followed by "----", all their output and a blank line.
package golden

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the output of the scripts in testdata")

// Files is where the scripts of a package are.
const Files = "testdata/*.txt"

// Play plays each script whose path matches pattern in a subtest named like its file, without
// .txt. play runs the commands of a script and returns the script with fresh output.
func Play(t *testing.T, pattern string, play func(t *testing.T, script string) string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts at %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { playFile(t, path, play) })
	}
}

func playFile(t *testing.T, path string, play func(t *testing.T, script string) string) {
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := play(t, string(want))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if line, text := firstDifference(got, string(want)); line > 0 {
		t.Errorf("%s:%d: run with -update and look at the difference; now it goes on with\n%s", path, line, text)
	}
}

// shownMax is how many lines a difference shows.
const shownMax = 5

// firstDifference returns the number of the first line in which got is not want, from 1, and
// some lines of got from there; 0: they are equal.
func firstDifference(got, want string) (line int, text string) {
	if got == want {
		return 0, ""
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := 0
	for at < len(g) && at < len(w) && g[at] == w[at] {
		at++
	}
	return at + 1, strings.Join(g[at:min(at+shownMax, len(g))], "\n")
}

// Indented returns an indented script with fresh output. run executes the command of a line and
// writes what came of it to out, indented; old output is not passed to it.
func Indented(script string, run func(line string, out io.Writer)) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") {
			continue // old output
		}
		out.WriteString(line + "\n")
		if line != "" && line[0] != '#' {
			run(line, &out)
		}
	}
	return out.String()
}

// Blocks returns a script of blocks with fresh output. run executes the command of a line and
// returns what came of it, whole lines.
func Blocks(script string, run func(line string) string) string {
	var out, output strings.Builder
	old := false
	for line := range strings.SplitSeq(strings.TrimRight(script, "\n"), "\n") {
		switch {
		case line == "----":
			out.WriteString("----\n" + output.String())
			output.Reset()
			old = true
		case line == "":
			out.WriteString("\n")
			old = false
		case old:
		default:
			out.WriteString(line + "\n")
			if !strings.HasPrefix(line, "#") {
				output.WriteString(run(line))
			}
		}
	}
	return out.String()
}
