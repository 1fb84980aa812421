package watchserver

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newPost(t *testing.T, told func(watch.Event)) *Post {
	p, err := New(t.TempDir(), told)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func open(t *testing.T, p *Post) *watch.Watcher {
	w, err := watch.OpenAt(t.Context(), p.Path())
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestTheSnapshotAndWhatFollows: watchers that come at any moment receive each event once. The
// snapshot covers the events before, and from its number on there is no gap.
func TestTheSnapshotAndWhatFollows(t *testing.T) {
	p := newPost(t, nil)
	const events, procs, watchers = behindMax - 1, 40, 8
	var opened, ended sync.WaitGroup
	for i := range events {
		if i%(events/watchers+1) == 0 { // a watcher opens between events
			opened.Add(1)
			ended.Go(func() {
				w, err := watch.OpenAt(t.Context(), p.Path())
				opened.Done()
				if assert.NoError(t, err) {
					assert.Equal(t, uint64(events+1), checkAll(t, w, procs))
				}
			})
		}
		p.Tell(eventOf(uint64(i+1), procs))
	}
	opened.Wait()
	p.Close()
	ended.Wait()
}

// checkAll reads all events, and returns the number of the last one.
func checkAll(t *testing.T, w *watch.Watcher, procs int) (seq uint64) {
	snapshot, isComplete := map[int]bool{}, false
	for e, err := range w.Events() {
		switch {
		case !assert.NoError(t, err):
			return 0
		case e.What == watch.Complete:
			isComplete, seq = true, e.Seq
			assert.Equal(t, there(e.Seq, procs), snapshot)
		case !isComplete:
			assert.Equal(t, watch.Present, e.What)
			snapshot[e.Proc] = true
		default:
			assert.Equal(t, seq+1, e.Seq)
			seq = e.Seq
		}
	}
	_ = w.Close()
	return seq
}

// eventOf returns the event of a number: processes join one after the other, and die in the same
// order.
func eventOf(seq uint64, procs int) watch.Event {
	e := watch.Event{What: watch.Joined, Proc: int(seq-1) % procs}
	if (int(seq-1)/procs)%2 == 1 {
		e.What = watch.Died
	}
	return e
}

// there returns the processes that are present after an event, by a replay of all events.
func there(seq uint64, procs int) map[int]bool {
	all := map[int]bool{}
	for s := uint64(1); s <= seq; s++ {
		e := eventOf(s, procs)
		delete(all, e.Proc)
		if e.What == watch.Joined {
			all[e.Proc] = true
		}
	}
	return all
}

// TestCensus: a reader of a snapshot and of all later events knows as much as a reader of all
// events.
func TestCensus(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	whats := []string{watch.Joined, watch.Left, watch.Died, watch.Lost, watch.Suspected, watch.Frozen, watch.Thawed}
	for range 200 {
		all, late := newCensus(), newCensus()
		at := random.IntN(60)
		for i := range 100 {
			if i == at {
				for _, e := range all.snapshot() {
					if e.What == watch.Present {
						e.What = watch.Joined
					}
					late.note(e)
				}
			}
			e := watch.Event{Seq: uint64(i + 1), What: whats[random.IntN(len(whats))], Proc: watch.None, Node: random.IntN(3)}
			switch random.IntN(3) {
			case 0:
				e.Proc = random.IntN(4)
			case 1:
				e.Node, e.Name = watch.None, fmt.Sprint("stranger", random.IntN(3))
			}
			all.note(e)
			if i >= at {
				late.note(e)
			}
		}
		require.Equal(t, namesOf(all.snapshot()), namesOf(late.snapshot()))
	}
}

// namesOf leaves out the times.
func namesOf(events []watch.Event) (names []string) {
	for _, e := range events {
		names = append(names, fmt.Sprint(e.What, memberOf(e)))
	}
	return names
}

// TestWhoDoesNotRead: a watcher that does not read blocks nobody. It receives the events before
// its cut without a gap, and its last line reports the cut. A watcher that reads receives all
// events.
func TestWhoDoesNotRead(t *testing.T) {
	p := newPost(t, nil)
	lazy, keen := open(t, p), open(t, p)
	const events = 8000
	for i := range events {
		p.Tell(watch.Event{What: watch.Suspected, Proc: watch.None, Node: 1})
		for e, err := range keen.Events() {
			require.NoError(t, err)
			if e.Seq == uint64(i+1) {
				break
			}
		}
	}
	var last uint64
	for e, err := range lazy.Events() {
		if err != nil {
			require.ErrorIs(t, err, watch.ErrBehind)
			assert.ErrorContains(t, err, "more than 1024 events were not read")
			assert.GreaterOrEqual(t, last, uint64(behindMax-1), "behind the snapshot: more if some were written meanwhile")
			assert.Less(t, last, uint64(events))
			return
		}
		if e.What != watch.Complete {
			require.Equal(t, last+1, e.Seq)
		}
		last = e.Seq
	}
	t.Fatal("it was not told that it was cut off")
}

// TestTheEndWaitsForNobody: a watcher that does not read does not delay the end of a job.
func TestTheEndWaitsForNobody(t *testing.T) {
	p := newPost(t, nil)
	_ = open(t, p)
	for range 8000 {
		p.Tell(watch.Event{What: watch.Suspected, Proc: watch.None, Node: 1})
	}
	p.Close()
}

// TestTheLastLineIsWrittenLate: a client that reads receives the last line, also if the writing
// goroutine runs only after the client's time limit.
func TestTheLastLineIsWrittenLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		c := newClient(here)
		c.post([]byte("over\n"))
		c.end(lastFor)
		time.Sleep(2 * lastFor)
		go func() { c.write(); here.Close() }()
		text, err := io.ReadAll(there)
		assert.NoError(t, err)
		assert.Equal(t, "over\n", string(text))
	})
}

// TestOver: Over is the last event, with the evidence of the caller, and later events are
// dropped.
func TestOver(t *testing.T) {
	p := newPost(t, nil)
	w := open(t, p)
	p.Tell(watch.Event{What: watch.Over, Proc: watch.None, Node: watch.None, Evidence: "all finished"})
	p.Tell(watch.Event{What: watch.Joined})
	_, err := watch.OpenAt(t.Context(), p.Path())
	assert.ErrorIs(t, err, watch.ErrRefused)
	p.Close()
	p.Close()
	var last watch.Event
	for e, err := range w.Events() {
		require.NoError(t, err)
		last = e
	}
	assert.Equal(t, watch.Event{Seq: 1, What: watch.Over, Proc: watch.None, Node: watch.None, Evidence: "all finished"}, last)
}

// answer returns the line that a client receives after it has sent a text.
func answer(t *testing.T, p *Post, text string) string {
	conn, err := net.Dial("unix", p.Path())
	require.NoError(t, err)
	defer conn.Close()
	_, _ = conn.Write([]byte(text)) // a client that is refused at once gets its answer before, and the connection is closed
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return line
}

// TestNonsense: a bad request is refused with a text, and watchers do not notice.
func TestNonsense(t *testing.T) {
	p := newPost(t, nil)
	w := open(t, p)
	for text, want := range map[string]string{
		"GET / HTTP/1.0\r\n\r\n":                  "bad request: invalid character",
		`{"v":9,"what":"watch"}` + "\n":           "of version 9, and this is version 1",
		`{"v":1,"what":"kill"}` + "\n":            `\"kill\": want watch or register`,
		`{"v":1,"what":"register"}` + "\n":        "a name of 0 bytes",
		strings.Repeat("x", requestMax+1) + "\n":  "want a line of at most 1024 bytes",
		`{"v":1,"what":"watch"}` + "\n" + "more?": `"what":"complete"`,
	} {
		assert.Contains(t, answer(t, p, text), want, text)
	}
	p.Tell(watch.Event{What: watch.Joined, Proc: 5})
	for e, err := range w.Events() {
		require.NoError(t, err)
		if e.Proc == 5 {
			break
		}
	}
}

// TestCrowd: clients that connect and send nothing take no more than the bounded room, and do not
// delay the end.
func TestCrowd(t *testing.T) {
	p := newPost(t, nil)
	for range connsMax {
		conn, err := net.Dial("unix", p.Path())
		require.NoError(t, err)
		defer conn.Close()
	}
	assert.Contains(t, answer(t, p, `{"v":1,"what":"watch"}`+"\n"), "256 programs are connected already")
	p.Close()
}

// TestFolder: no other user can enter the folder, and no folder stays, not even of a killed
// process.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	dead := filepath.Join(dir, fmt.Sprint(prefix, deadPid(t), "-1"))
	require.NoError(t, os.Mkdir(dead, 0o700))
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Join(dead, socketName)}))
	require.NoError(t, syscall.Close(fd))

	p, err := New(dir, nil)
	require.NoError(t, err)
	second, err := New(dir, nil)
	require.NoError(t, err)
	assert.NoDirExists(t, dead)
	info, err := os.Stat(filepath.Dir(p.Path()))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	p.Close()
	assert.FileExists(t, second.Path(), "only its own")
	second.Close()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)

	long := filepath.Join(dir, strings.Repeat("x", 100))
	require.NoError(t, os.Mkdir(long, 0o700))
	_, err = New(long, nil)
	assert.ErrorContains(t, err, "set TMPDIR to a shorter one")
	left, err = os.ReadDir(long)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// deadPid returns a pid that no process has.
func deadPid(t *testing.T) int {
	cmd := exec.Command("true")
	require.NoError(t, cmd.Run())
	return cmd.Process.Pid
}

// FuzzRequest: the input of a client is a request or an error, and a request is within bounds.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"v":1,"what":"watch"}` + "\n"))
	f.Add([]byte(`{"v":1,"what":"register","name":"indexer"}` + "\n"))
	f.Add([]byte(`{"v":1,"what":"register","name":"\u202e"}`))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := readRequest(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		require.Equal(t, Version, r.Version)
		if r.What == askRegister {
			require.NoError(t, checkName(r.Name))
		} else {
			require.Equal(t, askWatch, r.What)
		}
	})
}
