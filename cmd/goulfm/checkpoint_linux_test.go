package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heatOn is a job of examples/heat, as a user starts it.
func heatOn(t *testing.T, n string, more ...string) *exec.Cmd {
	t.Helper()
	args := append([]string{"run", "-n", n, "--timeout", "60s"}, more...)
	return limited(t, goulfm, args...)
}

// TestStopAndRestart: heat on 8 is stopped, and goes on with 5, and with 12: the same bits. A job
// that is killed goes on from what it had published.
func TestStopAndRestart(t *testing.T) {
	t.Parallel()
	heat := build(t, "../../examples/heat")
	program := []string{heat, "-nx", "60", "-ny", "60", "-steps", "1500", "-tol", "0", "-every", "20", "-print", "0"}
	want := goulfmCommand(t, "", append([]string{"run", "-n", "8"}, program...)...)
	require.Equal(t, 0, want.code, want.err)
	result := strings.Split(want.out, "\n")[0]

	dir := filepath.Join(t.TempDir(), "checkpoints")
	program = append(program, "-dir", dir)
	stop := interrupted(t, heatOn(t, "8", program...), dir, syscall.SIGTERM)
	assert.Contains(t, stop, "stopped after a last commit")
	r := goulfmCommand(t, "", "checkpoint", "ls", dir)
	require.Equal(t, 0, r.code, r.err)
	newest := regexp.MustCompile(`^heat-1-\d+ +8 ranks +\d+ bytes  whole\n`).FindString(r.out)
	require.NotEmpty(t, newest, r.out)
	for _, n := range []string{"5", "12"} {
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		require.NoError(t, os.Chmod(copied, 0o700))
		r := goulfmCommand(t, "", append(append([]string{"run", "-n", n}, program[:len(program)-1]...), copied)...)
		assert.Equal(t, 0, r.code, r.err)
		assert.Equal(t, result, strings.Split(r.out, "\n")[0])
		assert.Contains(t, r.err, n+" ranks go on from "+strings.Fields(newest)[0])
	}

	dir = filepath.Join(t.TempDir(), "killed")
	program[len(program)-1] = dir
	interrupted(t, heatOn(t, "8", program...), dir, syscall.SIGKILL)
	r = goulfmCommand(t, "", "checkpoint", "verify", dir)
	assert.Equal(t, 0, r.code, r.out+r.err)
	r = goulfmCommand(t, "", append([]string{"run", "-n", "3", "--kill", "1@step=1400"}, program...)...)
	assert.Equal(t, 0, r.code, r.err)
	assert.Equal(t, result, strings.Split(r.out, "\n")[0])
	assert.Contains(t, r.err, "3 ranks go on from heat-1-")
}

// interrupted ends a job by a signal to its launcher once a version is published, and returns
// what it had to say.
func interrupted(t *testing.T, cmd *exec.Cmd, dir string, sig syscall.Signal) string {
	t.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	require.NoError(t, cmd.Start())
	for {
		published, err := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
		require.NoError(t, err)
		if len(published) > 0 {
			break
		}
		time.Sleep(time.Millisecond) // another process: there is nothing to wait on but the file
	}
	require.NoError(t, cmd.Process.Signal(sig))
	_ = cmd.Wait()
	return errs.String()
}

// TestCheckpointCommand: ls, verify and rm, and what they say of what is wrong.
func TestCheckpointCommand(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	interrupted(t, heatOn(t, "2", "../../examples/heat", "-nx", "8", "-ny", "8", "-steps", "100000000", "-tol", "0", "-print", "0", "-dir", dir), dir, syscall.SIGTERM)
	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"checkpoint", 2, "usage"},
		{"checkpoint ls", 2, "usage"},
		{"checkpoint help", 0, "usage"},
		{"checkpoint rm " + dir, 2, "usage"},
		{"checkpoint look " + dir, 2, "usage"},
		{"checkpoint ls /nonexistent", 1, "no such file"},
		{"checkpoint verify " + dir + " heat-9-9", 1, "heat-9-9: no such version"},
	} {
		r := goulfmCommand(t, "", strings.Fields(c.args)...)
		assert.Equal(t, c.code, r.code, c.args)
		assert.Contains(t, r.out+r.err, c.text)
	}
	published, err := filepath.Glob(filepath.Join(dir, "heat-*", "manifest.json"))
	require.NoError(t, err)
	require.NotEmpty(t, published)
	version := filepath.Join(dir, "heat-3-1")
	require.NoError(t, os.CopyFS(version, os.DirFS(filepath.Dir(published[0]))))
	r := goulfmCommand(t, "", "checkpoint", "ls", dir)
	assert.Contains(t, r.out, "heat-3-1")
	assert.Contains(t, r.out, "not a checkpoint of this library", "the manifest is another version's")
	r = goulfmCommand(t, "", "checkpoint", "verify", dir)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.out+r.err, "heat-3-1/manifest.json")
	r = goulfmCommand(t, "", "checkpoint", "rm", dir, "heat-3-1")
	assert.Equal(t, 0, r.code, r.err)
	assert.NoDirExists(t, version)
}
