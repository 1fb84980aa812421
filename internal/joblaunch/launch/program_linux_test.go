package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFindProgram: a Go file is built like a package, and a folder does not hide a program of PATH
// unless the name begins with ./.
func TestFindProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.go", []byte("package main\n"), 0o666))
	for _, dir := range []string{"hostname", "mine", "empty"} {
		require.NoError(t, os.Mkdir(dir, 0o777))
	}
	for _, dir := range []string{"hostname", "mine"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"), 0o666))
	}
	hostname, err := exec.LookPath("hostname")
	require.NoError(t, err)
	for _, c := range []struct {
		name, builds, in, argument string // builds empty: found, not built
		path                       string
		code                       int
	}{
		{name: "x.go", builds: "x.go", in: ".", argument: "x"},
		{name: "./x.go", builds: "x.go", in: ".", argument: "x"},
		{name: "mine", builds: ".", in: "mine", argument: "mine"},
		{name: "./hostname", builds: ".", in: "./hostname", argument: "hostname"},
		{name: "hostname", path: hostname, argument: "hostname"},
		{name: "./empty", code: ExitCannotRun},
		{name: "y.go", code: ExitNotFound},
	} {
		var built, in string
		p, err := findProgram(c.name, func(dir string, args []string) ([]byte, error) {
			in, built = dir, args[4]
			return nil, os.WriteFile(args[3], []byte("#!/bin/sh\n"), 0o777)
		}, func(string) {})
		if c.code != 0 {
			assert.Equal(t, c.code, codeOf(err), "%s: %v", c.name, err)
			continue
		}
		require.NoError(t, err, c.name)
		assert.Equal(t, []string{c.builds, c.in, c.argument}, []string{built, in, p.name}, c.name)
		if c.builds == "" {
			assert.Equal(t, c.path, p.path)
		} else {
			assert.Regexp(t, `^/proc/self/fd/\d{2,}$`, p.path, "the number of the launcher is another process where /proc is that of another PID namespace")
		}
		p.close()
	}
}

// TestBuildThatTakesTime: after a second one line names the package; a shorter build adds no line.
func TestBuildThatTakesTime(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("solver", 0o777))
	require.NoError(t, os.WriteFile("solver/main.go", []byte("package main\n"), 0o666))
	for _, c := range []struct {
		takes time.Duration
		want  string
	}{
		{900 * time.Millisecond, ""},
		{time.Minute, "builds ./solver: the first time this takes a minute or two\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var shown locked
			_, err := findProgram("./solver", func(string, []string) ([]byte, error) {
				time.Sleep(c.takes)
				return nil, os.ErrInvalid
			}, func(said string) { fmt.Fprintln(&shown, buildingText(said)) })
			require.ErrorIs(t, err, os.ErrInvalid)
			assert.Equal(t, c.want, shown.take())
		})
	}
}

// TestMistakesInTheNameOfAProgram: the error names the program that was meant, or the interpreter
// that is missing.
func TestMistakesInTheNameOfAProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", t.TempDir())
	require.NoError(t, os.WriteFile("traps", []byte("#!/bin/sh\n"), 0o777))
	require.NoError(t, os.WriteFile("lost.sh", []byte("#! /no/such/shell -e\necho x\n"), 0o777))
	for name, want := range map[string]string{
		"traps":     "traps: no such program: did you mean ./traps?",
		"trap":      "trap: no such program: give a file, a name in PATH, or a Go package like ./examples/ring",
		"./lost.sh": "./lost.sh: its interpreter /no/such/shell does not exist: correct the first line of the script",
	} {
		_, err := findProgram(name, nil, nil)
		assert.EqualError(t, err, want)
		assert.Equal(t, ExitNotFound, codeOf(err), name)
	}
	p, err := findProgram("./traps", nil, nil)
	require.NoError(t, err)
	p.close()
}
