package launch

import (
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A fakeCrew takes the place of all daemons. It starts nothing, and records the orders.
type fakeCrew struct {
	mu       sync.Mutex
	orders   []string
	said     []rankproto.Message
	starter  chan struct{} // its holder starts processes
	expected int
	holdings []job.Holding
	barred   []int
	starts   map[int]error // by number: why a process cannot be started
	ended    chan struct{}
}

func (c *fakeCrew) order(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.orders = append(c.orders, fmt.Sprintf(format, args...))
}

// take returns the orders since the last call.
func (c *fakeCrew) take() (orders []string) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	orders, c.orders = c.orders, nil
	return orders
}

// answers returns the messages to processes since the last call.
func (c *fakeCrew) answers() (said []rankproto.Message) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	said, c.said = c.said, nil
	return said
}

func (c *fakeCrew) Declare(proc int, left bool)         { c.order("declare %d", proc) }
func (c *fakeCrew) WakeAll()                            {}
func (c *fakeCrew) Signal(proc int, sig syscall.Signal) { c.order("%v to %d", sig, proc) }
func (c *fakeCrew) KillAll()                            { c.order("kill all") }
func (c *fakeCrew) Announce(n int)                      { c.order("announce %d", n) }
func (c *fakeCrew) Begin(start func() error) error      { return start() }
func (c *fakeCrew) OnStarter(f func())                  { c.starter <- struct{}{}; f(); <-c.starter }
func (c *fakeCrew) Expect(n int) bool                   { c.Unexpect(-n); return true }

func (c *fakeCrew) Unexpect(n int) {
	c.mu.Lock()
	c.expected -= n
	c.mu.Unlock()
}

func (c *fakeCrew) Say(_ int, m rankproto.Message) {
	c.mu.Lock()
	c.said = append(c.said, m)
	c.mu.Unlock()
}

// hold sets the references to the dead.
func (c *fakeCrew) hold(holdings ...job.Holding) {
	c.mu.Lock()
	c.holdings = holdings
	c.mu.Unlock()
}

func (c *fakeCrew) Holdings() []job.Holding {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holdings
}

func (c *fakeCrew) Start(p daemon.Placement) error {
	p.Stdin.Close()
	c.order("start %d", p.Number)
	return c.starts[p.Number]
}

func (c *fakeCrew) Build(string, []string) ([]byte, error) { return nil, os.ErrInvalid }
func (c *fakeCrew) Barred() []int                          { return c.barred }
func (c *fakeCrew) Vacate(proc int) error                  { c.order("vacate %d", proc); return nil }
func (c *fakeCrew) Watch(first, count int)                 { c.order("watch %d", first) }
func (c *fakeCrew) WatchLife(time.Duration)                {}
func (c *fakeCrew) Pid(int) int                            { return 1 }
func (c *fakeCrew) SignalAll(sig syscall.Signal)           { c.order("%v to all", sig) }
func (c *fakeCrew) Hold(bool)                              {}
func (c *fakeCrew) EndFenced(int)                          {}
func (c *fakeCrew) EndLeftovers()                          {}
func (c *fakeCrew) Drain()                                 {}
func (c *fakeCrew) Ended() <-chan struct{}                 { return c.ended }
func (c *fakeCrew) Halted() <-chan struct{}                { return nil }
func (c *fakeCrew) Over() bool                             { return false }
func (c *fakeCrew) Close()                                 {}

// withCrew runs a job in virtual time. Its first ranks are in Init.
func withCrew(t *testing.T, spec Spec, barred []int, test func(t *testing.T, l *launcher, c *fakeCrew)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		spec.Program, spec.Stdin, spec.Quiet, spec.Stdout, spec.Stderr = "x", "none", true, io.Discard, io.Discard
		c := &fakeCrew{starter: make(chan struct{}, 1), starts: map[int]error{}, ended: make(chan struct{}), barred: barred}
		l := newLauncher(&spec)
		l.prog, l.crew, l.Daemon = &program{path: "/x", name: "x"}, c, c
		require.NoError(t, l.startRanks())
		for rank := range spec.N {
			require.NoError(t, l.Said(rank, rankproto.Received{Message: rankproto.Joined{}}))
		}
		test(t, l, c)
		synctest.Wait()
		assert.Zero(t, c.expected, "the job waits for processes that nobody starts")
		close(c.ended)
		close(l.settled)
		l.rep.end(l.verdict(), nil)
	})
}

// ends reports the end of a process.
func (l *launcher) ends(number int, status job.Status) {
	l.Found(number, job.ByTombstone, false, 1)
	l.Reaped(number, status)
	l.Heard(number)
}

var sigkilled = job.Status{Signal: 9, Name: "killed"}

// twoNodes are the hosts of two nodes with two slots each.
func twoNodes() Hosts {
	return Hosts{Launcher: LauncherLocal, Nodes: []Node{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}}}
}

// TestTheNodeIsLostWhileProcessesStart: the requester learns that the program is not the reason,
// and may ask again. The processes that were started are ended, and no others are tried.
func TestTheNodeIsLostWhileProcessesStart(t *testing.T) {
	withCrew(t, Spec{N: 4, Universe: 10, Hosts: twoNodes()}, nil, func(t *testing.T, l *launcher, c *fakeCrew) {
		c.take()
		c.starts[6] = fmt.Errorf("node 0 (a): %w", daemonclient.ErrNodeLost)
		l.spawn(0, rankproto.Spawn{Token: 3, N: 3, Procs: []int{0, 1}})
		assert.Equal(t, []string{"announce 8", "start 5", "start 6", "killed to 5"}, c.take())
		assert.Equal(t, []rankproto.Message{rankproto.Spawned{Token: 3, First: 5, N: 3, Died: true, Why: "start rank 6: node 0 (a): the node is lost"}}, c.answers())
		l.ends(5, sigkilled)

		c.starts[job.NumberOf(5, 1)] = os.ErrPermission
		c.hold(job.Holding{Slot: 5})
		c.barred = []int{4, 6, 7, 8, 9}
		l.spawn(0, rankproto.Spawn{Token: 4, N: 1, Procs: []int{0, 1}})
		said := c.answers()
		require.Len(t, said, 1)
		assert.False(t, said[0].(rankproto.Spawned).Died, "it is the program")
	})
}

// TestSlotsOfTheDead: a request waits until other processes refer to the dead no more. A slot is
// vacated before anybody can learn of its next process. A request gives up early if only the
// requester refers to the dead, and late if another process does.
func TestSlotsOfTheDead(t *testing.T) {
	withCrew(t, Spec{N: 3, Universe: 3}, nil, func(t *testing.T, l *launcher, c *fakeCrew) {
		l.ends(2, sigkilled)
		c.take()
		ask := func(held ...int) time.Duration {
			c.hold(job.Holding{Slot: 2, By: held})
			begun := time.Now()
			l.spawn(0, rankproto.Spawn{Token: 1, N: 1, Procs: []int{0, 1}})
			return time.Since(begun)
		}
		took := ask(0)
		assert.InDelta(t, slotsOwn, took, float64(2*slotsLook))
		took = ask(1)
		assert.InDelta(t, slotsMax, took, float64(2*slotsLook))
		said := c.answers()
		require.Len(t, said, 2)
		for _, m := range said {
			assert.True(t, m.(rankproto.Spawned).Short)
		}
		assert.Contains(t, said[1].(rankproto.Spawned).Why, "that of slot 2 by 1")
		assert.Empty(t, c.take())

		time.AfterFunc(time.Second, func() { c.hold(job.Holding{Slot: 2}) })
		assert.InDelta(t, time.Second, ask(1), float64(2*slotsLook))
		next := job.NumberOf(2, 1)
		assert.Equal(t, []string{"vacate 2", "announce 3", fmt.Sprint("start ", next), "watch 2"}, c.take())
		require.NoError(t, l.Said(next, rankproto.Received{Message: rankproto.Joined{}}))
		assert.Equal(t, []rankproto.Message{rankproto.Spawned{Token: 1, First: next, N: 1}}, c.answers())
	})
}

// TestSparesOnALateNode: a spare that finds no room is started when a node has joined. After a
// spare has replaced a rank, another spare follows after a pause.
func TestSparesOnALateNode(t *testing.T) {
	withCrew(t, Spec{N: 4, Universe: 8, Hosts: twoNodes(), Renewal: Renewal{Spares: 1}}, []int{4, 5, 6, 7}, func(t *testing.T, l *launcher, c *fakeCrew) {
		assert.NotContains(t, c.take(), "start 4")
		c.barred = []int{4, 5}
		l.Apply(job.Roomier{})
		assert.Equal(t, []string{"announce 7", "start 6", "watch 6"}, c.take())
		require.NoError(t, l.Said(6, rankproto.Received{Message: rankproto.Joined{}}))
		l.ends(0, sigkilled)
		c.take()
		l.spawn(1, rankproto.Spawn{Token: 1, N: 1, Procs: []int{1, 2, 3}, Replace: true})
		assert.Equal(t, []rankproto.Message{rankproto.Spawned{Token: 1, First: 6, N: 1}}, c.answers())
		require.NoError(t, l.Said(1, rankproto.Received{Message: rankproto.Keep{First: 6}}))
		time.Sleep(refillPause - 1)
		assert.Empty(t, c.take())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{"announce 8", "start 7", "watch 7"}, c.take())
	})
}

// TestTwoRequestsToEnd: the same signal twice within a moment is one request, because Slurm sends
// signals twice. A second request ends the ranks at once; so does the end of the grace.
func TestTwoRequestsToEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		second syscall.Signal
		after  time.Duration
		killed time.Duration
	}{
		{"once", 0, 0, 10 * time.Second},
		{"twice", syscall.SIGTERM, oneRequest - 1, 10 * time.Second},
		{"again", syscall.SIGTERM, oneRequest, oneRequest},
		{"another one", syscall.SIGINT, 1, 1},
	} {
		withCrew(t, Spec{N: 1, Universe: 1, Grace: 10 * time.Second}, nil, func(t *testing.T, l *launcher, crew *fakeCrew) {
			crew.take()
			signals := make(chan os.Signal)
			go l.handleSignals(signals)
			signals <- syscall.SIGTERM
			assert.Equal(t, []string{"terminated to all"}, crew.take(), c.name)
			begun := time.Now()
			if c.second != 0 {
				time.Sleep(c.after)
				signals <- c.second
				synctest.Wait()
			}
			for len(crew.take()) == 0 {
				time.Sleep(1 * time.Millisecond)
			}
			assert.InDelta(t, c.killed, time.Since(begun), float64(2*time.Millisecond), c.name)
			assert.Equal(t, ExitSignal+int(syscall.SIGTERM), l.verdict().Code, c.name)
			time.Sleep(time.Minute)
		})
	}
}
