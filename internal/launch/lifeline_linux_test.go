package launch

import (
	"bytes"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/segment"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// connect returns two ends of a lifeline: the launcher's and a rank's.
func connect(t *testing.T) (mine *net.UnixConn, theirs *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	f := os.NewFile(uintptr(pair[0]), "lifeline")
	defer f.Close()
	line, err := net.FileConn(f)
	require.NoError(t, err)
	theirs = os.NewFile(uintptr(pair[1]), "lifeline")
	t.Cleanup(func() { line.Close(); theirs.Close() })
	return line.(*net.UnixConn), theirs
}

// listenTo has a launcher of one rank hear what that says, and returns its story.
func listenTo(t *testing.T, said string) string {
	t.Helper()
	var story bytes.Buffer
	j := newJob(&Spec{N: 1, Stderr: &story})
	j.node = segment.FormatNode(segment.Heap(segment.NodeBytes(4)), 4, 1)
	mine, theirs := connect(t)
	r := &rank{line: mine, words: stream{mine}}
	j.ranks, j.byNumber = []*rank{r}, map[int]*rank{0: r}
	_, err := theirs.WriteString(said)
	require.NoError(t, err)
	require.NoError(t, theirs.Close())
	j.listen(r)
	j.rep.end(verdict{}, nil)
	return story.String()
}

// TestALifelineThatSaysNonsense ends, with a line of the story; the launcher goes on. Each of
// the first three ended it.
func TestALifelineThatSaysNonsense(t *testing.T) {
	for _, text := range []string{
		`{"what":"joined"}` + "\n" + `{"what":"joined"}` + "\n" + `{"what":"joined"}` + "\n",
		`{"what":"spawn","n":-5}` + "\n",
		`{"what":"keep","first":-1}` + "\n",
		"who are you?\n",
		strings.Repeat("x", 100_000),
	} {
		story := listenTo(t, text)
		if strings.HasSuffix(text, "\n") {
			assert.Contains(t, story, "rank 0: bad message", text)
		} else {
			assert.Empty(t, story, "cut off")
		}
	}
}

// TestWhatARankSaidBeforeItsEnd is read before its end is judged. Both members of a job keep
// the process that they have started, and leave at once:
//
//	6, 7: keep, Finalize, exit     launcher: both are gone
//	                                         reads "keep", twice
//
// Judged in between, nobody is left to keep it, and it was killed without a word.
func TestWhatARankSaidBeforeItsEnd(t *testing.T) {
	j := runningJob(t)
	members := []*rank{{number: 6}, {number: 7}} // that this test speaks for
	j.mu.Lock()
	for _, r := range members {
		j.ranks = append(j.ranks, r)
		j.byNumber[r.number] = r
	}
	j.mu.Unlock()
	ask := boot.Message{What: boot.SaysSpawn, Token: 1, N: 1, Procs: []int{6, 7}, Args: []string{"1000"}}
	b, err := j.reserve(&batch{root: 6, token: 1}, ask)
	require.NoError(t, err)
	done := make(chan error)
	j.spawner.do(func() { done <- j.startBatch(b, j.prog, ask) })
	require.NoError(t, <-done)
	keep, err := boot.Message{What: boot.SaysKeep, First: b.first, Procs: []int{6, 7, b.first}, Indices: []uint32{1, 2, 3}}.Encode()
	require.NoError(t, err)
	hears := make([]func(), 2)
	for i, r := range members {
		mine, theirs := connect(t)
		_, err := theirs.Write(keep)
		require.NoError(t, err)
		j.mu.Lock()
		r.line, r.words, r.silent = mine, stream{mine}, make(chan struct{})
		j.mu.Unlock()
		hears[i] = func() { defer close(r.silent); j.listen(r) } // theirs stays open: a child of the rank holds it
		j.depart(r.number, byReaping)
		j.gone(r)
	}
	j.mu.Lock()
	assert.NotNil(t, j.batchOf(b.first), "its members are gone, and have not been heard")
	j.mu.Unlock()
	for _, hear := range hears {
		hear()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	assert.Nil(t, j.batchOf(b.first))
	assert.False(t, j.rankOf(b.first).dropped, "both have kept it")
}

// TestAStreamThatOthersHold ends with what was in it, and not before.
func TestAStreamThatOthersHold(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	defer r.Close()
	s := stream{r}
	text := strings.Repeat("0123456789", 6000)
	_, err = w.WriteString(text)
	require.NoError(t, err)
	s.end()
	got, err := io.ReadAll(s)
	assert.NoError(t, err)
	assert.Equal(t, text, string(got))
}

// TestBuildsAreReapedByTheReaper: while ranks run, the status of a command goes to who
// waits for it. The reaper took it.
func TestBuildsAreReapedByTheReaper(t *testing.T) {
	j := runningJob(t)
	type result struct {
		text []byte
		err  error
	}
	run := func(args ...string) result {
		done := make(chan result)
		j.spawner.do(func() {
			text, err := j.runBuild(os.TempDir(), args)
			done <- result{text, err}
		})
		return <-done
	}
	for range 20 {
		got := run("sh", "-c", "echo built; echo so >&2")
		require.NoError(t, got.err)
		require.Equal(t, "built\nso\n", string(got.text))
	}
	got := run("sh", "-c", "echo bad; exit 3")
	assert.EqualError(t, got.err, "exit code 3")
	assert.Equal(t, "bad\n", string(got.text))
	go func() { // a job that is stopped does not wait for it
		for {
			j.mu.Lock()
			building := len(j.builds) > 0
			j.mu.Unlock()
			if building {
				break
			}
			runtime.Gosched()
		}
		j.stop(ExitFailed, "enough")
	}()
	assert.EqualError(t, run("sleep", "1000").err, "killed (SIGKILL)")
	assert.ErrorIs(t, run("sh", "-c", "").err, errOver)
}
