package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFlagsThatCannotWork: the error names the flag and its value.
func TestFlagsThatCannotWork(t *testing.T) {
	file := prog
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--wdir", "/nothing"}, "--wdir: working directory /nothing: no such file or directory"},
		{[]string{"--wdir", file}, "--wdir: working directory " + file + ": not a directory"},
		{[]string{"--host", "2", "--wdir", "/nothing"}, "--wdir: working directory /nothing: no such file or directory"},
		{[]string{"-x", "NOTHING_OF_THIS_NAME"}, "-x NOTHING_OF_THIS_NAME: NOTHING_OF_THIS_NAME is not set here"},
		{[]string{"-x", ""}, `-x "": want NAME=VALUE`},
		{[]string{"-x", "=v"}, `-x "=v": want NAME=VALUE`},
	} {
		got := goulfmCommand(t, "", append(append([]string{"run", "-n", "2"}, c.args...), prog, "ring")...)
		assert.Equal(t, 2, got.code, c.args)
		assert.Contains(t, got.err, "goulfm run: "+c.want, c.args)
	}
}

// TestWorkingDirectoryOfAnotherHost: if a host lacks the working directory, the error names the
// directory, not the program.
func TestWorkingDirectoryOfAnotherHost(t *testing.T) {
	dir := t.TempDir()
	writeProgram(t, dir, "rsh", `shift; exec sh -c "$*"`)
	got := goulfmCommand(t, "", "run", "--host", "afar", "--rsh", filepath.Join(dir, "rsh"), "--wdir", "/nothing", prog, "ring")
	require.Equal(t, 3, got.code, got.err)
	assert.Contains(t, got.err, "working directory /nothing: no such file or directory: it has to be there as here, or --wdir names another one")
}

// TestMachineWithIPv6Alone: on a machine without 127.0.0.1, nodes reach each other at ::1.
func TestMachineWithIPv6Alone(t *testing.T) {
	space := []string{"--user", "--map-root-user", "--net"}
	const setUp = `ip link set lo up && ip addr del 127.0.0.1/8 dev lo && `
	if text, err := limited(t, "unshare", append(space, "sh", "-c", setUp+"ip -6 addr show dev lo | grep -q ::1")...).CombinedOutput(); err != nil {
		t.Skip("no network namespace with ::1 alone can be made here:", err, string(text))
	}
	for _, flags := range []string{"--host 2", "--host 2 --cut 0/1@10m+1s"} {
		out, err := limited(t, "unshare", append(space, "sh", "-c", setUp+"exec "+goulfm+" run -q "+flags+" --timeout-factor 50 "+prog+" ring")...).CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, "sum 1\n", string(out), flags)
	}
}
