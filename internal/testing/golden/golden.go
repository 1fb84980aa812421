// Package golden plays scripts: text files of commands, each followed by its output. A test executes
// the commands and compares their output with the file. With -update it writes the output into the
// file, to be read before it is committed.
//
// # Format
//
// A line that starts in the first column is a command, a comment (#) or blank. The lines below a
// command that start with a space or a tab are its output:
//
//	# Both members contribute.
//	propose 0
//	propose 1
//	  0 decides
//	  1 decides
//
// The first word of a command is its name. A script has no other syntax: packages define the
// arguments of their commands.
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

// Files is the pattern of a package's scripts.
const Files = "testdata/*.txt"

// A Command is one command of a script.
type Command struct {
	Line  string   // the whole line
	Rest  string   // the line after its first word and a space
	Words []string // the words of the line; the first one is the name
}

// A Run executes one command and writes its output to out, without indentation. Blank lines of the
// output are dropped. All commands of a script have the same out.
type Run func(c Command, out io.Writer)

// Play plays each script whose path matches pattern, in a subtest named like the file without .txt.
// It calls begin for each script, and the returned function for each command.
func Play(t *testing.T, pattern string, begin func(t *testing.T) Run) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts at %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { playFile(t, path, begin(t)) })
	}
}

func playFile(t *testing.T, path string, run Run) {
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := play(string(want), run)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if line, text := firstDifference(got, string(want)); line > 0 {
		t.Errorf("%s:%d: run with -update and review the difference; the new text is\n%s", path, line, text)
	}
}

// play returns a script with fresh output.
func play(script string, run Run) string {
	var fresh, output strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			continue // old output
		}
		fresh.WriteString(line + "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		output.Reset()
		_, rest, _ := strings.Cut(line, " ")
		run(Command{Line: line, Rest: rest, Words: strings.Fields(line)}, &output)
		for text := range strings.Lines(output.String()) {
			if text = strings.TrimRight(text, " \n"); text != "" {
				fresh.WriteString("  " + text + "\n")
			}
		}
	}
	return fresh.String()
}

// shownMax is the number of lines of a difference that a failure shows.
const shownMax = 5

// firstDifference returns the number of the first line that differs, from 1, and some lines of got
// from there; 0 if they are equal.
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
