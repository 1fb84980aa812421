package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestWhoSaysThatItFailed: a rank that reports a failure fails the job, even if the other ranks
// finish, and the last line names the rank.
func TestWhoSaysThatItFailed(t *testing.T) {
	for _, c := range []struct {
		args, mode string
		code       int
		says       string
	}{
		{"", "exit", 3, "2 of 3 ranks finished, rank 1 failed: exit code 3, 1 rank lost; exit code 3\n"},
		{"--survive killed", "exit", 3, "rank 1 failed: exit code 3"},
		{"--survive any", "exit", 0, "2 of 3 ranks finished, 1 rank lost; exit code 0\n"},
		{"--survive any --kill 1@step=1", "recover", 0, "2 of 3 ranks finished, 1 rank lost; exit code 0\n"},
		{"--survive none --kill 1@step=1", "recover", 137, "the job was stopped (code 137): rank 1: killed (SIGKILL) (--survive none)"},
		{"--survive none", "ring", 0, ""},
		{"--survive some", "ring", 2, "--survive some: want killed, any or none"},
		{"", "exit-after", 2, "3 of 3 ranks finished, rank 1 failed: exit code 2 after Finalize, 0 ranks lost; exit code 2\n"},
		{"", "abort-256", 1, "Abort(256): exit code 256 is not in 1 to 255, using 1\n"},
		{"", "abort", 9, "the job was stopped (code 9): Abort(9) of rank 2"},
	} {
		got := goulfmCommand(t, "", append(append([]string{"run", "-n", "3"}, strings.Fields(c.args)...), prog, c.mode)...)
		assert.Equal(t, c.code, got.code, "%s %s\n%s", c.args, c.mode, got.err)
		assert.Contains(t, got.err, c.says, "%s %s", c.args, c.mode)
	}
}

// fullPipe returns a pipe with a full buffer.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	require.NoError(t, unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK))
	for err := error(nil); err == nil; _, err = unix.Write(fds[1], []byte{'.'}) {
	}
	for _, fd := range fds {
		require.NoError(t, unix.SetNonblock(fd, false))
	}
	r, w = os.NewFile(uintptr(fds[0]), "read"), os.NewFile(uintptr(fds[1]), "write")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// TestNobodyReadsStandardError: while standard error is full, deaths are declared, and the
// survivors repair and finish. The launcher writes its event log once a reader drains the pipe.
func TestNobodyReadsStandardError(t *testing.T) {
	r, w := fullPipe(t)
	cmd := limited(t, goulfm, "run", "-n", "6", "--kill", "2@step=1", "--kill", "5@step=1", prog, "recover")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = w
	require.NoError(t, cmd.Start())
	text, err := io.ReadAll(io.LimitReader(out, int64(len("survivors [0 1 3 4]\nsum 6\n"))))
	require.NoError(t, err)
	assert.Equal(t, "survivors [0 1 3 4]\nsum 6\n", string(text))
	w.Close()
	eventLog, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	assert.Contains(t, string(eventLog), "4 of 6 ranks finished, 2 ranks lost; exit code 0")
}

// TestNobodyReadsStandardOutput: a job that is stopped ends although its output cannot be written.
func TestNobodyReadsStandardOutput(t *testing.T) {
	for _, where := range []string{"-n", "--host"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel() // they wait, most of the time
			_, w := fullPipe(t)
			cmd := limited(t, goulfm, "run", where, "2", "--timeout", "300ms", "yes")
			cmd.Stdout = w
			_ = cmd.Run()
			assert.Equal(t, 124, cmd.ProcessState.ExitCode(), where)
		})
	}
}

// TestOutputThatCannotBeWritten: lost output is reported, and the exit code is 6.
func TestOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	var errs bytes.Buffer
	cmd := limited(t, goulfm, "run", "-n", "2", prog, "output")
	cmd.Stdout, cmd.Stderr = full, &errs
	_ = cmd.Run()
	assert.Equal(t, 6, cmd.ProcessState.ExitCode())
	assert.Equal(t, 1, strings.Count(errs.String(), "output of ranks is lost: standard output: no space left on device"), errs.String())

	dir := t.TempDir()
	name := filepath.Join(dir, "rank.1.out")
	require.NoError(t, os.Symlink("/dev/full", name))
	got := goulfmCommand(t, "", "run", "-n", "2", "--output-dir", dir, prog, "output")
	assert.Equal(t, 6, got.code)
	assert.Contains(t, got.err, "output of ranks is lost: "+name+": no space left on device")
	assert.Contains(t, got.err, "2 of 2 ranks finished, output was lost: "+name)

	got = goulfmCommand(t, "", "run", "--host", "2", "--ppn", "1", "--survive-launcher", "--output-dir", dir, prog, "output")
	assert.Equal(t, 6, got.code, "the node of the rank writes its file")
	assert.Contains(t, got.err, "output of ranks is lost: node 1 (local1): output of rank 1 is lost: write "+name+": no space left on device")
	assert.Contains(t, got.err, "2 of 2 ranks finished, output was lost: node 1")
}

// gone reports whether a process has ended. The process was never a child of this test.
func gone(pid string) bool {
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	return err == nil && syscall.Kill(n, 0) == syscall.ESRCH
}

// TestWhatRanksLeaveBehind: processes that ranks leave running end with the job, in the process
// group of the rank or in a group of their own, however the job ends, and even if they hold the
// output open.
func TestWhatRanksLeaveBehind(t *testing.T) {
	for _, c := range []struct {
		name, script string
		code         int // 124: the timeout is over
		says         string
	}{
		{"the rank ends", "sleep 1000 & echo $!", 0, "1 process that ranks had started still ran: ended"},
		{"a session of its own", "setsid sleep 1000 & echo $!", 0, "1 process that ranks had started still ran: ended"},
		{"it has another output", "setsid sleep 1000 >/dev/null 2>&1 & echo $!", 0, "still ran: ended"},
		{"the rank fails", "sleep 1000 & echo $!; exit 3", 3, "still ran: ended"},
		{"timeout", "setsid sleep 1000 & echo $!; wait", 124, "(code 124): --timeout "},
		{"timeout when the rank has ended", "setsid sleep 1000 & echo $!", 124, "(code 124): --timeout "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait, most of the time
			args := []string{"-n", "1", "sh", "-c", c.script}
			var got result
			if c.code == 124 {
				got = outOfTime(t, func(got result) bool { return got.out != "" }, args...)
			} else {
				got = goulfmCommand(t, "", append([]string{"run"}, args...)...)
			}
			assert.Equal(t, c.code, got.code, c.name)
			assert.Contains(t, got.err, c.says, c.name)
			assert.True(t, gone(got.out), "%s: process %q lives on", c.name, got.out)
		})
	}
}

// TestTwoInterrupts: a rank ignores the first signal and waits for a process in a session of its
// own. The second signal ends the job.
func TestTwoInterrupts(t *testing.T) {
	cmd, lines, errs := start(t, "run", "-n", "1", "sh", "-c", "trap '' INT; setsid sleep 1000 & echo $!; wait; wait")
	require.True(t, lines.Scan())
	pid := lines.Text()
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM)) // two equal ones may become one
	for lines.Scan() {
	}
	_ = cmd.Wait()
	assert.Contains(t, []int{130, 143}, cmd.ProcessState.ExitCode(), errs)
	assert.True(t, gone(pid))
}

// TestAProgramInsideOfARank: a program that a rank starts is not a rank. The program runs as a
// world of one. If it still has the variables and descriptors that the launcher gave to the rank,
// Init fails with one line that names the cause.
func TestAProgramInsideOfARank(t *testing.T) {
	got := goulfmCommand(t, "", "run", "-n", "2", prog, "exec")
	line := "goulfm: init: descriptor 3 is not the job's memory: invalid argument: the environment variable GOULFM_BOOT is that of the rank which has started this program: start it with GOULFM_BOOT unset\nexit status 3\n"
	assert.Equal(t, 2, strings.Count(got.out, "size 1\n<nil>\n"), got.out)
	assert.Equal(t, 2, strings.Count(got.out, line), got.out)
	assert.Zero(t, got.code)

	got = goulfmCommand(t, "", "run", "-n", "1", "sh", "-c", prog+" size; "+prog+" size")
	assert.Equal(t, "size 1\n", got.out)
	assert.Regexp(t, `goulfm: init: process 0 is in the job already, as pid \d+: the environment variable GOULFM_BOOT`, got.err)
	assert.Equal(t, 3, got.code)

	got = goulfmCommand(t, "", "run", "-n", "2", "sh", "-c", goulfm+" run -n 3 "+prog+" ring")
	assert.Equal(t, "sum 3\nsum 3\n", got.out, got.err)
	assert.Zero(t, got.code)
}

// TestInitTwiceInAJob: a second Init returns the same world. After the last Finalize, Init fails.
func TestInitTwiceInAJob(t *testing.T) {
	got := goulfmCommand(t, "", "run", "-n", "3", prog, "init-twice")
	assert.Equal(t, result{0, "sum 3\n", ""}, got)
}

// TestFinalizeTooSeldom: the job names the missing calls of Finalize. Main makes them itself.
func TestFinalizeTooSeldom(t *testing.T) {
	for mode, want := range map[string]string{
		"finalize-once":  "exit without Finalize: Init was called 3 times and Finalize once: call Finalize twice more",
		"finalize-twice": "exit without Finalize: Init was called 3 times and Finalize twice: call Finalize once more",
	} {
		for _, flags := range [][]string{{"-n", "2"}, {"--host", "2"}} {
			got := goulfmCommand(t, "", slices.Concat([]string{"run"}, flags, []string{prog, mode})...)
			assert.Equal(t, 1, got.code)
			assert.Contains(t, got.err, " died: "+want+"; found", flags)
			assert.Regexp(t, "rank [01] failed: "+want+", 2 ranks lost; exit code 1\n$", got.err)
		}
	}
	assert.Equal(t, result{0, "sum 3\n", ""}, goulfmCommand(t, "", "run", "-n", "3", prog, "init-in-main"))
}

// TestTheFlagReplacesAVariable: -x replaces a variable that is already set.
func TestTheFlagReplacesAVariable(t *testing.T) {
	t.Setenv("GIVEN", "before")
	got := goulfmCommand(t, "", "run", "-n", "1", "-x", "GIVEN=here", "sh", "-c", "env | grep ^GIVEN=; echo $GIVEN")
	assert.Equal(t, "GIVEN=here\nhere\n", got.out)
	got = goulfmCommand(t, "", "run", "-n", "1", "-x", "GIVEN=here", prog, "env")
	assert.Equal(t, "GIVEN=here boot=\"\"\n", got.out)
}

// TestGraceAfterSIGTERM: ranks that do not end are killed when the grace period is over, also on
// several nodes. A rank that ends in time is not killed.
func TestGraceAfterSIGTERM(t *testing.T) {
	const deaf = `trap "" TERM; echo ready; while :; do sleep 1; done`
	const hears = `trap "echo ends; exit 7" TERM; echo ready; while :; do sleep 0.01; done`
	for _, c := range []struct {
		flags, script string
		killed        bool
	}{
		{"-n 1 --grace 200ms", deaf, true},
		{"--host 1 --timeout-factor 50 --grace 200ms", deaf, true},
		{"-n 1 --grace 10m", hears, false},
	} {
		cmd, lines, errs := start(t, append(append([]string{"run"}, strings.Fields(c.flags)...), "sh", "-c", c.script)...)
		require.True(t, lines.Scan())
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		for lines.Scan() {
		}
		_ = cmd.Wait()
		assert.Equal(t, 143, cmd.ProcessState.ExitCode(), errs)
		assert.Equal(t, c.killed, strings.Contains(errs.String(), "ranks have not ended 200ms after SIGTERM: killed (--grace)"), errs)
	}
}

// TestAPIDNamespaceWithTheProcOfAnother: a launcher in a PID namespace with the /proc of the outer
// namespace also builds a Go package, although there the pid of the launcher is that of another
// process.
func TestAPIDNamespaceWithTheProcOfAnother(t *testing.T) {
	unshare := []string{"--user", "--map-root-user", "--pid", "--fork"}
	if err := limited(t, "unshare", append(unshare, "true")...).Run(); err != nil {
		t.Skip("no PID namespace can be made here:", err)
	}
	out, err := limited(t, "unshare", append(unshare, goulfm, "run", "-n", "2", "./testdata/prog", "ring")...).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "sum 1\n", buildLine.ReplaceAllString(string(out), ""))
}

// TestWrapperHidesTheJob: a process below goulfm run that calls Init and cannot join never runs as
// a world of one, even if the wrapper ignores its exit code.
func TestWrapperHidesTheJob(t *testing.T) {
	const cleared, closed = "the environment was cleared on the way", "has closed descriptors"
	for _, c := range []struct {
		name, script string
		code         int
		says         string
	}{
		{"cleared", "exec env -i " + prog + " output", 3, cleared},
		{"cleared and ignored", "env -i " + prog + " output || true", 3, cleared},
		{"closed", "exec 3>&- 4>&- 5>&-; exec " + prog + " output", 3, closed},
		{"closed and ignored", "exec 3>&- 4>&- 5>&-; " + prog + " output || true", 3, closed},
		{"wanted", "exec env -i GOULFM_ALONE=1 " + prog + " output", 0, ""},
		{"no goulfm program", "exec env -i hostname", 0, ""},
		{"after a rank", prog + " output && env -i " + prog + " output", 0, ""},
		{"nested", "exec env -i " + goulfm + " run -n 1 " + prog + " output", 0, ""},
	} {
		for _, where := range [][]string{{"-n", "1"}, {"--host", "2", "--ppn", "1"}} {
			if c.name == "after a rank" && len(where) > 2 {
				continue // one of them waits for the other
			}
			got := goulfmCommand(t, "", append(append([]string{"run"}, where...), "sh", "-c", c.script)...)
			assert.Equal(t, c.code, got.code, "%s %v\n%s", c.name, where, got.err)
			assert.Contains(t, got.err, c.says, "%s %v", c.name, where)
			if c.code != 0 {
				assert.NotContains(t, got.out, "rank 0 line", "%s %v", c.name, where)
				assert.Contains(t, got.err, "none of the processes came through Init", "%s %v", c.name, where)
			}
		}
	}
}
