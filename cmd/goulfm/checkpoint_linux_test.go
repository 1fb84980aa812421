package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// heatOn returns the command of a job with n ranks. more holds further flags, the program and its
// arguments.
func heatOn(t *testing.T, n string, more ...string) *exec.Cmd {
	t.Helper()
	args := append([]string{"run", "-n", n, "--timeout", "60s"}, more...)
	return limited(t, goulfm, args...)
}

// TestStopAndRestart: heat on 8 ranks is stopped, and continues on 5 and on 12 ranks with the bits
// of an undisturbed run. A killed job continues from its newest published version. Both jobs run
// for 1e8 steps, so neither finishes before its first version is published, however long that
// takes. The jobs that continue end 100 steps after that version.
func TestStopAndRestart(t *testing.T) {
	t.Parallel()
	const every = 20
	heat := build(t, "../../examples/heat")
	program := func(steps int, more ...string) []string {
		return append([]string{heat, "-nx", "60", "-ny", "60", "-tol", "0", "-every", fmt.Sprint(every), "-print", "0", "-steps", fmt.Sprint(steps)}, more...)
	}
	endless := func(dir string) []string { return program(1e8, "-pids", "-dir", dir) }
	undisturbed := func(steps int) string {
		r := goulfmCommand(t, "", append([]string{"run", "-n", "8"}, program(steps)...)...)
		require.Equal(t, 0, r.code, r.err)
		return strings.Split(r.out, "\n")[0]
	}
	newest := func(dir string) (name string, step int) { // step: the last one of that version, or a later one
		r := goulfmCommand(t, "", "checkpoint", "ls", dir)
		require.Equal(t, 0, r.code, r.err)
		m := regexp.MustCompile(`(?m)^(heat-1-(\d+)) +8 ranks +\d+ bytes  whole$`).FindStringSubmatch(r.out)
		require.NotNil(t, m, r.out)
		number, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		return m[1], number * every
	}

	dir := filepath.Join(t.TempDir(), "checkpoints")
	stop := interrupted(t, heatOn(t, "8", endless(dir)...), 8, dir, syscall.SIGTERM)
	assert.Contains(t, stop, "stopped after a last commit")
	name, step := newest(dir)
	want := undisturbed(step + 100)
	for _, n := range []string{"5", "12"} {
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		require.NoError(t, os.Chmod(copied, 0o700))
		r := goulfmCommand(t, "", append([]string{"run", "-n", n}, program(step+100, "-dir", copied)...)...)
		assert.Equal(t, 0, r.code, r.err)
		assert.Equal(t, want, strings.Split(r.out, "\n")[0])
		assert.Contains(t, r.err, n+" ranks go on from "+name)
	}

	dir = filepath.Join(t.TempDir(), "killed")
	interrupted(t, heatOn(t, "8", endless(dir)...), 8, dir, syscall.SIGKILL)
	r := goulfmCommand(t, "", "checkpoint", "verify", dir)
	assert.Equal(t, 0, r.code, r.out+r.err)
	name, step = newest(dir)
	r = goulfmCommand(t, "", append([]string{"run", "-n", "3", "--kill", fmt.Sprint("1@step=", step+50)}, program(step+100, "-dir", dir)...)...)
	assert.Equal(t, 0, r.code, r.err)
	assert.Equal(t, undisturbed(step+100), strings.Split(r.out, "\n")[0])
	assert.Contains(t, r.err, "3 ranks go on from "+name)
	assert.Contains(t, r.err, "rank 1 is served by process 3")
}

// interrupted sends a signal to the launcher of a job once a version is published, waits until no
// rank is left, and returns the standard error of the job. The ranks must print their kill commands
// (-pids).
func interrupted(t *testing.T, cmd *exec.Cmd, ranks int, dir string, sig syscall.Signal) string {
	t.Helper()
	return interruptedAfter(t, cmd, ranks, dir, sig, func(int) {})
}

// interruptedAfter is interrupted, but calls f before the signal, with the pid of rank 0.
func interruptedAfter(t *testing.T, cmd *exec.Cmd, ranks int, dir string, sig syscall.Signal, f func(pid int)) string {
	t.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var fds []unix.PollFd
	first := 0
	for lines := bufio.NewScanner(out); len(fds) < ranks && lines.Scan(); {
		var rank, pid int
		_, err := fmt.Sscanf(lines.Text(), "rank %d: kill -9 %d", &rank, &pid)
		require.NoError(t, err)
		if rank == 0 {
			first = pid
		}
		fd, err := unix.PidfdOpen(pid, 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	over := make(chan struct{})
	go func() { _ = cmd.Wait(); close(over) }()
	for {
		published, err := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
		require.NoError(t, err)
		if len(published) > 0 {
			break
		}
		select {
		case <-over:
			require.Fail(t, "it ended before a version was published", errs.String())
		default:
			time.Sleep(time.Millisecond) // another process: there is nothing to wait on but the file
		}
	}
	f(first)
	require.NoError(t, cmd.Process.Signal(sig))
	<-over
	awaitEnds(t, fds)
	return errs.String()
}

// TestTwoJobsInOneFolder: a second job of the same name in the folder of a live job fails, and its
// error names a process of the live job. After the first job is killed with its launcher, the next
// job continues from its version at once. A job with other arguments is refused.
func TestTwoJobsInOneFolder(t *testing.T) {
	t.Parallel()
	heat := build(t, "../../examples/heat")
	dir := filepath.Join(t.TempDir(), "checkpoints")
	program := func(more ...string) []string {
		return append([]string{heat, "-nx", "30", "-tol", "0", "-every", "20", "-print", "0", "-dir", dir}, more...)
	}
	first := heatOn(t, "3", append(program("-ny", "30"), "-steps", "100000000", "-pids")...)
	interruptedAfter(t, first, 3, dir, syscall.SIGKILL, func(pid int) {
		r := goulfmCommand(t, "", append([]string{"run", "-n", "2"}, program("-ny", "30", "-steps", "100")...)...)
		assert.Equal(t, 1, r.code, r.err)
		assert.Contains(t, r.err, fmt.Sprintf(`checkpoints are in use: versions of "heat" in %s are written by process %d on host`, dir, pid))
	})
	r := goulfmCommand(t, "", append([]string{"run", "-n", "2"}, program("-ny", "31", "-steps", "100")...)...)
	assert.Equal(t, 1, r.code, r.err)
	assert.Contains(t, r.err, "checkpoints are of other arguments: heat-1-")
	r = goulfmCommand(t, "", append([]string{"run", "-n", "2"}, program("-ny", "30", "-steps", "21")...)...)
	assert.Equal(t, 0, r.code, r.err)
	assert.Contains(t, r.err, "2 ranks go on from heat-1-")
}

// TestCheckpointCommand: ls, verify and rm, and their messages about mistakes and damaged versions.
func TestCheckpointCommand(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	interrupted(t, heatOn(t, "2", "../../examples/heat", "-nx", "8", "-ny", "8", "-steps", "100000000", "-tol", "0", "-print", "0", "-pids", "-dir", dir), 2, dir, syscall.SIGTERM)
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

// TestCheckpointsOfEarlierBuilds: each earlier build's checkpoints are listed as that build has
// listed them. A file of a later format is named, with both formats and the remedy.
func TestCheckpointsOfEarlierBuilds(t *testing.T) {
	t.Parallel()
	const kept = "../../internal/testing/earlier/testdata"
	builds, err := os.ReadDir(kept)
	require.NoError(t, err)
	require.NotEmpty(t, builds)
	for _, b := range builds {
		dir := filepath.Join(t.TempDir(), "checkpoints")
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(kept, b.Name(), "checkpoints"))))
		folders, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		for _, folder := range append(folders, dir) {
			require.NoError(t, os.Chmod(folder, 0o700)) // a checkout may have other permissions
		}
		want, err := os.ReadFile(filepath.Join(kept, b.Name(), "ls.txt"))
		require.NoError(t, err)
		assert.Equal(t, result{0, string(want), ""}, goulfmCommand(t, "", "checkpoint", "ls", dir))
		r := goulfmCommand(t, "", "checkpoint", "verify", dir)
		assert.Zero(t, r.code, "%s%s", r.out, r.err)

		whole := regexp.MustCompile(`(?m)^(\S+) .* whole$`).FindSubmatch(want)
		require.NotNil(t, whole)
		name := string(whole[1])
		file := filepath.Join(dir, name, "rank-0.gck")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		data[8]++ // the number of the format
		require.NoError(t, os.WriteFile(file, data, 0o600))
		r = goulfmCommand(t, "", "checkpoint", "verify", dir)
		assert.Equal(t, 1, r.code)
		assert.Regexp(t, `(?m)^`+name+` +`+name+`/rank-0\.gck: a checkpoint of a newer format: format 2, and this build reads formats up to 1: use the build that wrote it, or a later goulfm$`, r.out)
		assert.Regexp(t, `^goulfm checkpoint verify: 1 of \d+ versions cannot be restored\n$`, r.err)
	}
}
