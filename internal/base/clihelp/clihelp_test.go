package clihelp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const text = `usage: prog go [flags] FILE

Starts it's work. A path\name
.and a dot.

  prog go -n 2 x     two ranks
  prog go --mode slow

Basics:
  -n, -np N       number of ranks (default 1), or more;
                  .5 is wrong
  --mode fast|slow   speed: a choice
                    fast   at
                           once
                    slow   later
  --out DIR       a [folder]: written
  -quiet          no output

Faults:
  --kill R@D      the first form
  --kill nodeN@NAME=K the second form
  --socket PATH
                  a socket

Nothing else.

Exit code: 0 or
2.
`

// small is a program with two commands.
func small() Program {
	return Program{
		Name: "prog", Short: "does it's work", Version: "prog 1", Examples: []Example{{"prog go x", ""}},
		Commands: []Command{
			{Name: "go", Synopsis: "go [flags] FILE", Short: "start", Arguments: []string{"FILE..."}, Repeats: []string{"kill"}, Help: Parse(text)},
			{Name: "ls", Synopsis: "ls all|some DIR", Short: "list: all", Arguments: []string{"all|some", "DIR"}, Help: Parse("usage: prog ls all DIR    list all\n       prog ls some DIR   list some\n\n  prog ls all x\n")},
		},
	}
}

func TestParse(t *testing.T) {
	h := Parse(text)
	assert.Equal(t, []Example{{"prog go [flags] FILE", ""}}, h.Usage)
	assert.Equal(t, []string{"Starts it's work. A path\\name\n.and a dot."}, h.Description)
	assert.Equal(t, []Example{{"prog go -n 2 x", "two ranks"}, {"prog go --mode slow", ""}}, h.Examples)
	assert.Equal(t, []string{"Nothing else.", "Exit code: 0 or\n2."}, h.Notes)
	assert.Equal(t, []Section{
		{"Basics", []Item{
			{Names: []string{"-n", "-np"}, Value: "N", Text: "number of ranks (default 1), or more;\n.5 is wrong"},
			{Names: []string{"--mode"}, Value: "fast|slow", Text: "speed: a choice", Values: []Item{{Names: []string{"fast"}, Text: "at\nonce"}, {Names: []string{"slow"}, Text: "later"}}},
			{Names: []string{"--out"}, Value: "DIR", Text: "a [folder]: written"},
			{Names: []string{"-quiet"}, Text: "no output"},
		}},
		{"Faults", []Item{
			{Names: []string{"--kill"}, Value: "R@D", Text: "the first form"},
			{Names: []string{"--kill"}, Value: "nodeN@NAME=K", Text: "the second form"},
			{Names: []string{"--socket"}, Value: "PATH", Text: "a socket"},
		}},
	}, h.Sections)
	assert.Len(t, h.Flags(), 6, "--kill once")
	assert.Equal(t, "number of ranks, or more", h.Flags()[0].summary())
}

func TestKinds(t *testing.T) {
	for placeholder, want := range map[string]Kind{
		"FILE": Files, "PATH": Files, "FILE...": Files, "DIR": Folders, "COMMAND": Commands,
		"tls|auth": Words, "json": Words, "N": NoWords, "R@D": NoWords, "NAME[=VALUE]": NoWords, "": NoWords, "VERSION...": NoWords,
	} {
		kind, words := KindOf(placeholder)
		assert.Equal(t, want, kind, placeholder)
		assert.Equal(t, want == Words, len(words) > 0, placeholder)
	}
}

func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		"a-b --c": `a\-b \-\-c`, `\n`: `\en`, ".x\n.y": "\\&.x\n\\&.y", "'x": `\&'x`, "a.b 'c'": "a.b 'c'", "a\n   .b": "a\n\\&.b", "...": `\&...`,
	} {
		assert.Equal(t, want, roff(in), in)
	}
	assert.Equal(t, `"a \(dqb\(dq"`, argument(`a "b"`))
}

// TestManPage compares the whole page of a command: no text may be mistaken for a request.
func TestManPage(t *testing.T) {
	got, ok := small().Man("go")
	require.True(t, ok)
	assert.Equal(t, `.\" Printed by goulfm man.
.TH "PROG\-GO" 1 "" "prog 1"
.SH NAME
prog\-go \- start
.SH SYNOPSIS
.nf
\fBprog go\fR [flags] FILE
.fi
.SH DESCRIPTION
Starts it's work. A path\ename
\&.and a dot.
.SH OPTIONS
.SS "Basics"
.TP
\fB\-n\fR, \fB\-np\fR \fIN\fR
number of ranks (default 1), or more;
\&.5 is wrong
.TP
\fB\-\-mode\fR \fIfast|slow\fR
speed: a choice
.RS
.TP
\fBfast\fR
at
once
.TP
\fBslow\fR
later
.RE
.TP
\fB\-\-out\fR \fIDIR\fR
a [folder]: written
.TP
\fB\-quiet\fR
no output
.SS "Faults"
.TP
\fB\-\-kill\fR \fIR@D\fR
the first form
.TP
\fB\-\-kill\fR \fInodeN@NAME=K\fR
the second form
.TP
\fB\-\-socket\fR \fIPATH\fR
a socket
.SS "Help"
.TP
\fB\-h\fR, \fB\-\-help\fR
print the help text
.SH NOTES
Nothing else.
.SH EXIT STATUS
0 or
2.
.SH EXAMPLES
two ranks:
.RS 4
.nf
prog go \-n 2 x
.fi
.RE
.PP
.RS 4
.nf
prog go \-\-mode slow
.fi
.RE
.SH SEE ALSO
.BR prog (1)
`, got)
	_, ok = small().Man("other")
	assert.False(t, ok)
	overview, ok := small().Man("")
	assert.True(t, ok)
	assert.Contains(t, overview, ".SH SEE ALSO\n.BR prog\\-go (1),\n.BR prog\\-ls (1)\n")
}

func TestZshScript(t *testing.T) {
	got := small().Zsh()
	for _, line := range []string{
		`'ls:list\: all'`,
		`'(-n -np)-np[number of ranks, or more]:N: ' \`,
		`'--mode=[speed]:fast|slow:(fast slow)' \`,
		`'--out=[a \[folder\]]:DIR:_files -/' \`,
		`'-quiet[no output]' \`,
		`'*--kill=[the first form]:R@D: ' \`,
		`'*:FILE:_files' \`,
		`'1:all|some:(all some)' \`,
		`'2:DIR:_files -/' \`,
	} {
		assert.Contains(t, got, "\t"+line+"\n")
	}
	check(t, got, "zsh", "-n")
}

func TestFishScript(t *testing.T) {
	got := small().Fish()
	for _, line := range []string{
		"complete -c prog -n __prog_no_command -a ls -d 'list: all'",
		"complete -c prog -n '__prog_command go' -s n -o np -x -d 'number of ranks, or more'",
		"complete -c prog -n '__prog_command go' -l mode -x -a 'fast slow' -d 'speed'",
		"complete -c prog -n '__prog_command go' -l out -x -a '(__fish_complete_directories)' -d 'a [folder]'",
		"complete -c prog -n '__prog_command go' -o quiet -d 'no output'",
		"complete -c prog -n '__prog_command go' -l socket -r -F -d 'a socket'",
		"complete -c prog -n '__prog_command go' -F",
		"complete -c prog -n '__prog_command ls; and test (count (commandline -opc)) -eq 2' -a 'all some'",
		"complete -c prog -n '__prog_command ls; and test (count (commandline -opc)) -eq 3' -a '(__fish_complete_directories)'",
	} {
		assert.Contains(t, got, line+"\n")
	}
	assert.Equal(t, `'it\'s a \\'`, fishQuoted(`it's a \`))
	check(t, got, "fish", "--no-execute")
}

func TestBashScript(t *testing.T) { check(t, small().Bash(), "bash", "-n") }

// check has a shell read a script without running it, where the shell is installed.
func check(t *testing.T, script string, shell ...string) {
	t.Helper()
	if _, err := exec.LookPath(shell[0]); err != nil {
		t.Skipf("the lines are right; the syntax is not checked by the shell: %v", err)
	}
	file := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	out, err := exec.Command(shell[0], append(shell[1:], file)...).CombinedOutput()
	assert.NoError(t, err, string(out))
	assert.Empty(t, strings.TrimSpace(string(out)))
}
