package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A watchedJob is a job with --watch and with ranks that have printed their pids.
type watchedJob struct {
	cmd    *exec.Cmd
	errs   *bytes.Buffer
	rest   *bufio.Scanner // of its output
	socket string
	pids   []int
	tmp    string
}

// startWatched begins a job of n ranks that wait for SIGTERM.
func startWatched(t *testing.T, n int, flags ...string) *watchedJob {
	j := &watchedJob{errs: &bytes.Buffer{}, tmp: t.TempDir()}
	j.cmd = limited(t, goulfm, append(append([]string{"run", "--watch"}, flags...), "sh", "-c", "echo $GOULFM_WATCH; exec "+prog+" pid-cancel")...)
	j.cmd.Env, j.cmd.Stderr = append(os.Environ(), "TMPDIR="+j.tmp), j.errs
	out, err := j.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, j.cmd.Start())
	j.rest = bufio.NewScanner(out)
	for len(j.pids) < n && j.rest.Scan() {
		if pid, err := strconv.Atoi(j.rest.Text()); err == nil {
			j.pids = append(j.pids, pid)
		} else {
			j.socket = j.rest.Text()
		}
	}
	require.Len(t, j.pids, n)
	return j
}

// end ends a job, and requires that its temporary folder is empty.
func (j *watchedJob) end(t *testing.T) {
	require.NoError(t, j.cmd.Process.Signal(syscall.SIGTERM))
	for j.rest.Scan() {
	}
	_ = j.cmd.Wait()
	left, err := os.ReadDir(j.tmp)
	require.NoError(t, err)
	assert.Empty(t, left, j.errs)
}

// open watches a job from the test, a program outside the job.
func (j *watchedJob) open(t *testing.T) *watch.Watcher {
	w, err := watch.OpenAt(t.Context(), j.socket)
	require.NoError(t, err)
	return w
}

// awaitEvent reads events up to the first that satisfies a condition, and returns this event.
func awaitEvent(t *testing.T, w *watch.Watcher, want func(watch.Event) bool) watch.Event {
	for e, err := range w.Events() {
		require.NoError(t, err)
		if want(e) {
			return e
		}
	}
	require.Fail(t, "no such event")
	return watch.Event{}
}

// rankOf returns the rank that has a pid.
func rankOf(t *testing.T, w *watch.Watcher, pid int) int {
	return awaitEvent(t, w, func(e watch.Event) bool {
		return e.Proc != watch.None && e.Evidence == fmt.Sprint("pid ", pid)
	}).Proc
}

// TestWatch: a program outside the job registers and is killed, and then a rank is killed. All
// watchers receive both deaths: a program that uses the package, and goulfm watch.
func TestWatch(t *testing.T) {
	stranger := build(t, "./testdata/stranger")
	j := startWatched(t, 3, "-n", "3")
	shown := limited(t, goulfm, "watch", "--socket", j.socket)
	shows, err := shown.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, shown.Start())
	printed := bufio.NewReader(shows)
	// A watcher that opens after the stranger's death gets no event about the stranger, so wait for
	// the first line of goulfm watch.
	first, err := printed.ReadString('\n')
	require.NoError(t, err)

	indexer := limited(t, stranger)
	indexer.Env = append(os.Environ(), watch.Variable+"="+j.socket)
	says, err := indexer.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, indexer.Start())
	line, _ := bufio.NewReader(says).ReadString('\n')
	require.Equal(t, "registered\n", line)

	w := j.open(t)
	victim := rankOf(t, w, j.pids[1])
	require.NoError(t, indexer.Process.Kill())
	_ = indexer.Wait()
	stranger = awaitEvent(t, w, func(e watch.Event) bool { return e.What == watch.Died }).String()
	assert.Contains(t, []string{"indexer died: killed (SIGKILL)", "indexer died: ended, and nobody can tell how"}, stranger)
	require.NoError(t, syscall.Kill(j.pids[1], syscall.SIGKILL))
	died := awaitEvent(t, w, func(e watch.Event) bool { return e.What == watch.Died })
	assert.Equal(t, fmt.Sprintf("rank %d (node 0) died: killed (SIGKILL)", victim), died.String())

	j.end(t)
	left := map[int]bool{}
	over := awaitEvent(t, w, func(e watch.Event) bool {
		if e.What == watch.Left {
			left[e.Proc] = true
		}
		return e.What == watch.Over
	})
	assert.Len(t, left, 2)
	assert.Contains(t, over.Evidence, "exit code 143")
	assert.NoError(t, w.Close())

	rest, err := io.ReadAll(printed)
	require.NoError(t, err)
	out := first + string(rest)
	require.NoError(t, shown.Wait(), out)
	for _, want := range []string{" indexer died: ", fmt.Sprintf("%d %s\n", died.Seq, died), "the job is over: "} {
		assert.Contains(t, out, want)
	}
	assert.Contains(t, j.errs.String(), "goulfm watch --socket "+j.socket)
	assert.Contains(t, j.errs.String(), "indexer, no rank, died: ")
}

// TestWatchNodes: the loss of a node is an event, and so is the loss of each of its processes.
func TestWatchNodes(t *testing.T) {
	j := startWatched(t, 4, "--host", "2", "--ppn", "2")
	w := j.open(t)
	var nodes []string
	awaitEvent(t, w, func(e watch.Event) bool {
		if e.Proc == watch.None && e.What == watch.Present {
			nodes = append(nodes, e.Name)
		}
		return e.What == watch.Complete
	})
	assert.Equal(t, []string{"local0", "local1"}, nodes)

	second := j.open(t)
	victim := awaitEvent(t, second, func(e watch.Event) bool { return e.Node == 1 && e.Proc != watch.None })
	_ = second.Close()
	_, pid, _ := strings.Cut(victim.Evidence, "pid ")
	require.NoError(t, syscall.Kill(parentOf(t, pid), syscall.SIGKILL))
	lost := map[int]bool{}
	for len(lost) < 3 {
		e := awaitEvent(t, w, func(e watch.Event) bool { return e.What == watch.Lost })
		assert.Equal(t, 1, e.Node)
		lost[e.Proc] = true
	}
	assert.Equal(t, map[int]bool{watch.None: true, 2: true, 3: true}, lost)
	_ = w.Close()
	j.end(t)
}

// parentOf returns the parent of a process.
func parentOf(t *testing.T, pid string) int {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	require.NoError(t, err)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	parent, err := strconv.Atoi(string(fields[1]))
	require.NoError(t, err)
	return parent
}

// TestWatchWithoutAJob: the error names the remedy.
func TestWatchWithoutAJob(t *testing.T) {
	t.Setenv(watch.Variable, "")
	for _, c := range []struct {
		args []string
		code int
		err  string
	}{
		{[]string{"watch"}, 1, "name the socket that goulfm run --watch has printed with --socket"},
		{[]string{"watch", "--socket", "/nonexistent/socket"}, 1, "the job is over, or its launcher runs on another machine"},
		{[]string{"watch", "this"}, 2, "this: goulfm watch takes flags only"},
	} {
		got := goulfmCommand(t, "", c.args...)
		assert.Equal(t, c.code, got.code)
		assert.Contains(t, got.err, c.err)
	}
}
