package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// commandLine is a line of the list of commands.
var commandLine = regexp.MustCompile(`(?m)^  goulfm (\w+)`)

// exampleLine is an example: a command line, and after some spaces a remark.
var exampleLine = regexp.MustCompile(`(?m)^  goulfm ([^\n]*?)(?:   +[^\n]*)?$`)

// TestHelpOfEveryCommand: help COMMAND, -h and --help print the same text with examples, and the
// examples run.
func TestHelpOfEveryCommand(t *testing.T) {
	dir := t.TempDir()
	heat := build(t, "../../examples/heat")
	require.NoError(t, os.Symlink(heat, filepath.Join(dir, "heat")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hosts"), []byte("localhost slots=2\n"), 0o666))
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	folder := strings.NewReplacer("-replace DIR", "-replace "+root, " DIR", " "+filepath.Join(dir, "versions"))

	list := goulfmCommand(t, "", "help").out
	assert.Equal(t, list, goulfmCommand(t, "", "-h").out)
	commands := commandLine.FindAllStringSubmatch(list, -1)
	assert.Len(t, commands, len(subcommands()))
	for _, m := range commands {
		command := m[1]
		text := goulfmCommand(t, "", "help", command)
		assert.Zero(t, text.code, command)
		assert.True(t, strings.HasPrefix(text.out, "usage: goulfm "+command), text.out)
		for _, flag := range []string{"-h", "--help"} {
			assert.Equal(t, text, goulfmCommand(t, "", command, flag), command)
		}
		examples := exampleLine.FindAllStringSubmatch(text.out, -1)
		assert.NotEmpty(t, examples, text.out)
		for _, example := range examples {
			line := folder.Replace(example[1])
			if strings.HasPrefix(line, "watch ") {
				watchExample(t, line)
				continue
			}
			cmd := limited(t, goulfm, strings.Fields(line)...)
			cmd.Dir = dir
			got := outcome(t, cmd)
			wanted := []int{0}
			if command == "doctor" { // findings of the machine that runs this test
				wanted = []int{0, 1, 3}
			}
			assert.Contains(t, wanted, got.code, "%s: %s", line, got.err)
		}
	}
}

// watchExample runs an example of goulfm watch with a job, which ends once the example has printed
// its first event.
func watchExample(t *testing.T, line string) {
	t.Helper()
	j := startWatched(t, 2, "-n", "2")
	cmd := limited(t, goulfm, strings.Fields(strings.ReplaceAll(line, "PATH", j.socket))...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	events := bufio.NewReader(out)
	_, err = events.ReadString('\n')
	require.NoError(t, err)
	j.end(t)
	_, err = io.Copy(io.Discard, events)
	require.NoError(t, err)
	assert.NoError(t, cmd.Wait(), line)
}
