package daemon

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A record is a Host that records its calls.
type record struct {
	mu     sync.Mutex
	events []string
	heard  chan int // nil: nobody waits
	twice  error    // the result of Said
	reaped func()   // called by Reaped, unless nil
}

func (r *record) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *record) Found(proc int, by job.Evidence, left bool, _ int64) {
	r.add("%d found by %s, left %v", proc, by, left)
}
func (r *record) Reaped(proc int, status job.Status) {
	r.add("%d reaped: %s", proc, status)
	if r.reaped != nil {
		r.reaped()
	}
}
func (r *record) Heard(proc int) {
	r.add("%d heard", proc)
	if r.heard != nil {
		r.heard <- proc
	}
}
func (r *record) Said(proc int, m rankproto.Received) error {
	r.add("%d said %T", proc, m.Message)
	return r.twice
}
func (r *record) NoLife(proc int, _ int64) { r.add("%d shows no life", proc) }
func (r *record) Note(event, format string, args ...any) {
	r.add("%s: "+format, append([]any{event}, args...)...)
}

// printed are the lines of a stream.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
	end  chan struct{}
}

func newPrinted() *printed { return &printed{end: make(chan struct{})} }

func (p *printed) Write(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(b)
}

func (p *printed) Close() { close(p.end) }

// shell is the placement of a script. Descriptor 4 is its lifeline.
func shell(t *testing.T, number int, script string) (Placement, *printed) {
	t.Helper()
	path, err := exec.LookPath("sh")
	require.NoError(t, err)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	out := newPrinted()
	return Placement{Number: number, Path: path, Argv: []string{"sh", "-c", script}, Stdin: null, Info: boot.Info{Rank: number, Size: 2, Ranks: 2}, Out: out, Errs: newPrinted()}, out
}

// start makes a daemon with scripts as processes 0 and on, and ends all with the test.
func start(t *testing.T, r *record, scripts ...string) (*Daemon, []*printed) {
	t.Helper()
	d, err := New(r, 8, someMemory(t))
	require.NoError(t, err)
	var outs []*printed
	require.NoError(t, d.Begin(func() error {
		for number, script := range scripts {
			p, out := shell(t, number, script)
			outs = append(outs, out)
			if err := d.Start(p); err != nil {
				return err
			}
		}
		return nil
	}))
	t.Cleanup(func() {
		d.KillAll()
		<-d.Ended()
		d.EndLeftovers()
		d.Drain()
		d.Close()
	})
	return d, outs
}

// patience is how long a test waits for an event that may never come.
const patience = time.Minute

// end waits until all processes have ended and are Heard.
func end(d *Daemon) {
	<-d.Ended()
	d.EndLeftovers()
	d.Drain()
}

// TestLifeOfAProcess: its output comes unchanged, its messages come before its end, and the calls
// about its end in this order.
func TestLifeOfAProcess(t *testing.T) {
	r := &record{}
	line, err := rankproto.Encode(1, rankproto.Joined{})
	require.NoError(t, err)
	d, outs := start(t, r, "echo one; printf two; echo '"+strings.TrimSpace(string(line))+"' >&4; exit 3")
	end(d)
	<-outs[0].end
	assert.Equal(t, "one\ntwo", outs[0].text.String())
	assert.Contains(t, r.events, "0 said rankproto.Joined")
	var ends []string
	for _, ev := range r.events {
		if !strings.Contains(ev, "said") {
			ends = append(ends, ev)
		}
	}
	assert.Equal(t, []string{"0 reaped: exit code 3", "0 found by reaping, left false", "0 heard"}, ends)
	assert.Equal(t, "0 heard", r.events[len(r.events)-1])
}

// TestFoundBeforeHeard: a process that is reaped while the watcher of its tombstone is about to
// report its end is Heard after that.
func TestFoundBeforeHeard(t *testing.T) {
	r := &record{heard: make(chan int, 1)}
	d := newDaemon(r)
	out, in, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, in.Close())
	p := &process{found: true, told: make(chan struct{}), silent: make(chan struct{}), words: stream{out}}
	close(p.silent)
	d.hearOut(p)
	r.add("0 found") // by the watcher
	close(p.told)
	<-r.heard
	d.listeners.Wait()
	assert.Equal(t, []string{"0 found", "0 heard"}, r.events)
	assert.NoError(t, out.Close())
}

// TestHeardBeforeTheEnd: a host that ends the job as soon as the last process is reaped learns the
// status of that process before the end.
func TestHeardBeforeTheEnd(t *testing.T) {
	r := &record{}
	d, _ := start(t, r, "exec sleep 1000")
	require.True(t, d.Expect(1))
	r.reaped = func() {
		d.Unexpect(1) // the host knows: nobody will be started
		assert.False(t, d.Over())
	}
	d.Signal(0, syscall.SIGKILL)
	end(d)
	assert.Equal(t, []string{"0 reaped: killed (SIGKILL)", "0 found by reaping, left false", "0 heard"}, r.events)
}

// TestSignals reach processes that are not reaped, and no others.
func TestSignals(t *testing.T) {
	r := &record{heard: make(chan int, 2)}
	d, _ := start(t, r, "exec sleep 1000", "exec sleep 1000")
	d.Signal(1, syscall.SIGTERM)
	d.Signal(7, syscall.SIGTERM) // there is none
	assert.Equal(t, 1, <-r.heard)
	d.Signal(1, syscall.SIGKILL)
	assert.False(t, d.Over())
	d.SignalAll(syscall.SIGKILL)
	assert.Equal(t, 0, <-r.heard)
	<-d.Ended()
	assert.Contains(t, r.events, "1 reaped: killed by terminated")
	assert.Contains(t, r.events, "0 reaped: killed (SIGKILL)")
}

// TestNothingIsLeft: children that a process has left behind are ended, also those that have left
// its process group.
func TestNothingIsLeft(t *testing.T) {
	r := &record{}
	d, _ := start(t, r, "setsid sleep 1000 & exit 0")
	<-d.Ended()
	d.KillAll()
	end(d)
	select {
	case <-d.childless:
	case <-time.After(patience):
		assert.Fail(t, "a child is left")
	}
}

// TestStartedWhileAllIsEnded: a process that is forked while the job is ended is ended, too.
func TestStartedWhileAllIsEnded(t *testing.T) {
	r := &record{heard: make(chan int, 2)}
	d, _ := start(t, r, "exec sleep 1000")
	require.True(t, d.Expect(1))
	started := make(chan error)
	p, _ := shell(t, 1, "exec sleep 1000")
	d.OnStarter(func() {
		d.KillAll()
		err := d.Start(p)
		d.Unexpect(1)
		started <- err
	})
	require.NoError(t, <-started)
	assert.ElementsMatch(t, []int{0, 1}, []int{<-r.heard, <-r.heard})
	<-d.Ended()
	assert.False(t, d.Expect(1), "it is over")
}

// TestExpectedWhenAllHaveEnded: a process that is started when all before it have ended, and one
// has left a child behind, is reaped; and the job is over once nobody expects another.
func TestExpectedWhenAllHaveEnded(t *testing.T) {
	r := &record{heard: make(chan int, 2)}
	d, err := New(r, 8, someMemory(t))
	require.NoError(t, err)
	require.True(t, d.Expect(2)) // before anything was started: nothing is over yet
	require.NoError(t, d.Begin(func() error { return nil }))
	t.Cleanup(func() { d.KillAll(); d.EndLeftovers(); d.Drain(); d.Close() })
	for number, script := range []string{"exit 0", "sleep 1000 >/dev/null 2>&1 4>&- & exit 0"} {
		p, _ := shell(t, number, script)
		started := make(chan error)
		d.OnStarter(func() { started <- d.Start(p) })
		require.NoError(t, <-started)
		select {
		case who := <-r.heard:
			assert.Equal(t, number, who)
		case <-time.After(patience):
			require.Fail(t, "a process that has ended was not reaped")
		}
	}
	d.Unexpect(2)
	select {
	case <-d.Ended():
	case <-time.After(patience):
		assert.Fail(t, "the job is not over, and nobody is expected")
	}
}

// TestALifelineThatSaysNonsense ends, which is reported, and the daemon continues.
func TestALifelineThatSaysNonsense(t *testing.T) {
	for _, said := range []string{"who are you?", "{}", strings.Repeat("x", 100_000)} {
		r := &record{}
		d, _ := start(t, r, "printf '%s\n' '"+said+"' >&4")
		end(d)
		assert.Contains(t, strings.Join(r.events, "\n"), "lifeline: rank 0: bad message", "%.40s", said)
	}
	r := &record{}
	d, _ := start(t, r, "printf xxx >&4")
	end(d)
	assert.NotContains(t, strings.Join(r.events, "\n"), "bad message", "cut off, as of a process that was killed")
}

// TestWhatTheHostRefuses closes the lifeline.
func TestWhatTheHostRefuses(t *testing.T) {
	line, err := rankproto.Encode(1, rankproto.Joined{})
	require.NoError(t, err)
	r := &record{twice: fmt.Errorf("%w: said twice", rankproto.ErrMessage)}
	d, _ := start(t, r, "echo '"+strings.TrimSpace(string(line))+"' >&4; cat <&4")
	end(d)
	assert.Contains(t, r.events, "lifeline: rank 0: bad message: said twice over its lifeline: closed, which ends the rank")
}

// TestSayNeverWaits: a process that does not read its lifeline, until the test has it continue,
// makes nobody wait, and receives all necessary messages later.
func TestSayNeverWaits(t *testing.T) {
	const keeps = 50
	r := &record{}
	pipe := filepath.Join(t.TempDir(), "go")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	d, outs := start(t, r, "read go <"+pipe+"; cat <&4")
	for range keeps {
		d.Say(0, rankproto.Keep{First: 1, Procs: []int{0}, Indices: []uint32{1}, UID: make([]byte, 100_000)})
		d.Say(0, rankproto.Prove{})
	}
	d.Say(7, rankproto.Prove{}) // there is none
	require.NoError(t, os.WriteFile(pipe, []byte("go\n"), 0))
	for {
		outs[0].mu.Lock()
		n := strings.Count(outs[0].text.String(), `"keep"`)
		outs[0].mu.Unlock()
		if n == keeps {
			break
		}
		runtime.Gosched()
	}
	outs[0].mu.Lock() // a last one may be on its way
	defer outs[0].mu.Unlock()
	assert.Less(t, strings.Count(outs[0].text.String(), `"prove"`), keeps, "said once, not for each time")
}

// TestAStreamThatOthersHold ends with the bytes that were in it, and not before.
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

// TestBuildsAreReapedByTheReaper: while processes run, the status of a command is passed to its
// waiter. The reaper took it.
func TestBuildsAreReapedByTheReaper(t *testing.T) {
	d, _ := start(t, &record{}, "exec sleep 1000")
	type result struct {
		text []byte
		err  error
	}
	run := func(args ...string) result {
		done := make(chan result)
		d.OnStarter(func() {
			text, err := d.Build(os.TempDir(), args)
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
	go func() { // a job that is ended does not wait for it
		for {
			d.mu.Lock()
			building := len(d.builds) > 0
			d.mu.Unlock()
			if building {
				break
			}
			runtime.Gosched()
		}
		d.KillAll()
	}()
	assert.EqualError(t, run("sleep", "1000").err, "killed (SIGKILL)")
	assert.ErrorIs(t, run("sh", "-c", "").err, ErrOver)
}

// TestDeathsAreDeclared: a process that is declared dead is in the list, and one that has left
// with that reason.
func TestDeathsAreDeclared(t *testing.T) {
	d, _ := start(t, &record{}, "exec sleep 1000", "exec sleep 1000")
	d.Declare(1, false)
	d.Declare(0, true)
	d.WakeAll()
	proc, why, _ := d.node.Death(0)
	assert.Equal(t, 1, proc)
	assert.EqualValues(t, segment.Died, why)
	proc, why, _ = d.node.Death(1)
	assert.Equal(t, 0, proc)
	assert.EqualValues(t, segment.Retired, why)
}

// TestEnvironment: one entry for each name, the last one given. Two programs may take
// different ones of two.
func TestEnvironment(t *testing.T) {
	assert.Equal(t, []string{"A=5", "B=2", "C=", "D=4"}, mergeEnv([]string{"A=1", "B=2"}, []string{"C=3", "A=5"}, nil, []string{"C=", "D=4"}))
}

// someMemory returns memory for the data that a rank keeps.
func someMemory(t *testing.T) *rankstore.Memory {
	m, err := rankstore.Create(1)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}
