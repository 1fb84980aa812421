package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/internal/testing/interleave"
)

// gathering is a link to another node that keeps frames until somebody writes them out.
type gathering struct {
	transport.Link
	kept, written int
}

func (g *gathering) TrySend(int, *transport.Header, []byte) bool { g.kept++; return true }
func (g *gathering) WriteOut(int)                                { g.WriteAllOut() }
func (g *gathering) WriteAllOut()                                { g.written, g.kept = g.written+g.kept, 0 }
func (g *gathering) Near() *transport.Port                       { return nil }
func (g *gathering) Away() []bool                                { return []bool{false, true} }
func (g *gathering) PutBack(int)                                 {}
func (g *gathering) Part()                                       {}
func (g *gathering) Parted(func(int) bool) bool                  { return true }
func (g *gathering) Describe() []string                          { return nil }

// TestGatheredFramesAreWrittenBeforeAWait: a frame that the link gathers until the leader's next
// poll is written at once while the leader sleeps, and before its sender waits for a word in
// memory.
func TestGatheredFramesAreWrittenBeforeAWait(t *testing.T) {
	end := inproc.New(2).Port(0)
	link := &gathering{Link: end.Link}
	p := New(transport.End{Node: end.Node, Link: link}, Config{SpinPolls: 1, Nodes: []int{0, 1}, Tick: time.Hour})
	defer p.Close()
	w := NewWatch(p.World(), p.World(), true)
	require.NoError(t, w.Tell(bg, 1, make([]byte, 40)))
	p.mu.Lock()
	assert.Equal(t, 1, link.kept)
	p.mu.Unlock()

	p.leads.asleep.Store(true)
	require.NoError(t, w.Tell(bg, 1, make([]byte, 40)))
	p.leads.asleep.Store(false)
	p.mu.Lock()
	assert.Equal(t, 2, link.written, "the leader sleeps")
	p.mu.Unlock()

	near := &Watch{c: w.c, node: w.node, epoch: w.epoch, stores: w.stores} // of a window whose memory is all on this node
	require.NoError(t, w.Tell(bg, 1, make([]byte, 40)))
	bell, asked := new(uint32), 0
	near.Await(bell, Reason{}, func() bool { asked++; return asked > 3 })
	p.mu.Lock()
	assert.Equal(t, 3, link.written, "the sender waits")
	p.mu.Unlock()
}

// stream is a link to another node as the contract of transport.Link has it: the first frame after
// a Take is written at once, those that follow wait for the next Take, and then Pending reports
// true. Its calls are steps.
type stream struct {
	gathering
	*interleave.World
	gathers, holds bool
}

func (s *stream) TrySend(int, *transport.Header, []byte) bool {
	s.Step("sends")
	if s.gathers {
		s.kept, s.holds = s.kept+1, true
	}
	s.gathers = true
	s.Step("has sent")
	return true
}

func (s *stream) Take(c transport.Class, dst []int) []int {
	s.WriteAllOut()
	return s.Link.Take(c, dst)
}
func (s *stream) Peek(int) (f transport.Frame, ok bool) { s.WriteAllOut(); return f, false }
func (s *stream) WriteOut(int)                          { s.kept = 0 }
func (s *stream) WriteAllOut()                          { s.kept, s.gathers, s.holds = 0, false, false }
func (s *stream) Pending(except int) bool {
	s.Step("is anything pending?")
	return s.holds || s.Link.Pending(except)
}

// gatherers are the goroutines of a process that sends to another node.
type gatherers struct {
	bed
	link   *stream
	engine *Proc
	seg    *segment.Node
}

func newGatherers(w *interleave.World) *gatherers {
	x := &gatherers{bed: bed{World: w}, seg: segment.FormatNode(segment.Heap(segment.NodeBytes(2)), 2, 1)}
	port, err := transport.NewPort(transport.Home{Node: x.seg, Sleeper: x, Arena: func(int) (*segment.Arena, error) { return segment.HeapArena(2), nil }}, 0)
	if err != nil {
		panic(err) // Arena never fails
	}
	x.link = &stream{gathering: gathering{Link: port}, World: w}
	x.engine = New(transport.End{Node: port.Node(), Link: x.link}, Config{Nodes: []int{0, 1}, Tick: time.Hour})
	x.engine.Close() // the actors are its goroutines
	x.engine.loop.stop = make(chan struct{})
	w.State = func() string {
		return fmt.Sprint(x.link.kept, x.link.gathers, x.link.holds, x.free(), x.engine.leads.asleep.Load(), segment.Load32(x.seg.Doorbell(0)), len(x.asleep))
	}
	w.End = func() error {
		if x.link.kept > 0 {
			return fmt.Errorf("%d frames are never written", x.link.kept)
		}
		return nil
	}
	return x
}

// free reports whether the lock of the process is free.
func (x *gatherers) free() bool {
	free := x.engine.mu.TryLock()
	if free {
		x.engine.mu.Unlock()
	}
	return free
}

// lead is the program of the leader: it polls, and sleeps.
func (x *gatherers) lead(flag uint32, mustPoll func() bool) {
	ld := &x.engine.leads
	ld.who = caller
	ld.leading = leading{g: &x.engine.newRequest(callRequest, x.engine.world, "never").own, src: -1}
	for {
		x.Await("polls", x.free)
		ld.poll()
		x.Forget("polled")
		x.Step("is about to sleep")
		ld.sleep(flag, func() bool {
			x.Await("polls for the last time", x.free)
			over := mustPoll()
			x.Saw(over)
			x.Step("has polled")
			return over
		}, -1)
	}
}

// send is the program of another goroutine: it sends requests to a window of another node, and then
// computes, or waits for a word in memory of this one.
func (x *gatherers) send(waits bool) {
	away := NewWatch(x.engine.World(), x.engine.World(), true)
	for range 3 {
		x.Await("has a request", x.free)
		if err := away.Tell(bg, 1, make([]byte, 40)); err != nil {
			x.Failf("%v", err)
		}
	}
	if waits {
		near := &Watch{c: away.c, node: away.node, epoch: away.epoch, stores: away.stores} // of a window whose memory is all on this node
		near.Await(new(uint32), Reason{}, func() bool { x.Await("reads the word", x.free); return false })
	}
}

// TestGatheredFramesInEveryOrder: a process sends requests to another node, which the link gathers,
// while another goroutine of it makes progress and is about to sleep, or none does. In no order is
// a frame left unwritten while all goroutines wait or compute.
func TestGatheredFramesInEveryOrder(t *testing.T) {
	for name, c := range map[string]struct {
		leader string
		waits  bool
	}{
		"a call leads, the sender computes":              {"call", false},
		"a call leads, the sender waits":                 {"call", true},
		"the background loop leads, the sender waits":    {"loop", true},
		"the background loop leads, the sender computes": {"loop", false},
		"nobody leads, the sender waits":                 {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			states, err := interleave.Visit(100_000, func(w *interleave.World) {
				x := newGatherers(w)
				switch c.leader {
				case "call":
					w.Go("leader", func() { x.lead(park.Caller, x.engine.leads.mustPoll) }).MayWait()
				case "loop":
					w.Go("leader", func() { x.lead(park.Background, x.engine.loop.mustPoll) }).MayWait()
				}
				sender := w.Go("sender", func() { x.send(c.waits) })
				if c.waits {
					sender.MayWait()
				}
			})
			require.NoError(t, err)
			t.Logf("%d states", states)
			assert.Greater(t, states, 10)
		})
	}
}
