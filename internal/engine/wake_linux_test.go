package engine

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/jobhost"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/internal/testing/interleave"
)

// The processes of the node below.
const (
	survivor = iota
	ringer
	sleepers
)

// ward is a node with a survivor, which has an engine, a process that rings and dies, and sleepers.
type ward struct {
	bed
	seg         *segment.Node
	engine      *Proc
	began       uint64 // the epoch at first
	sent, ended bool   // the ringer has sent something; it is dead
}

func newWard(w *interleave.World, processes int) *ward {
	x := &ward{bed: bed{World: w}, seg: segment.FormatNode(segment.Heap(segment.NodeBytes(processes)), processes, 1)}
	port, err := transport.NewPort(transport.Home{Node: x.seg, Sleeper: x, Arena: func(int) (*segment.Arena, error) { return segment.HeapArena(processes), nil }}, survivor)
	if err != nil {
		panic(err) // Arena never fails
	}
	x.engine = New(port.End(), Config{Tick: time.Hour, Fence: true})
	x.engine.Close() // the background loop: the survivor makes its own steps
	w.State, x.began = x.text, x.seg.Epoch()
	return x
}

func (x *ward) text() string {
	text := fmt.Sprint(x.sent, x.ended, x.seg.Epoch())
	for p := range x.seg.Procs() {
		text += fmt.Sprint(" ", segment.Load32(x.seg.Doorbell(p)))
	}
	for _, s := range x.asleep {
		text += fmt.Sprint(" ", x.seg.BellOf(s.at), s.woken)
	}
	return text
}

// sleep is the program of a sleeper: it sleeps until something was sent, or the epoch has moved.
func (x *ward) sleep(me int) {
	n := node.New(x.seg, x, me)
	over := func() bool { return x.sent || n.Epoch() != x.began }
	for !over() {
		n.Sleep(park.Caller, func() bool {
			x.Saw(segment.Load32(n.Doorbell(me)))
			x.Step("looks")
			return over()
		}, -1)
	}
}

// ring is the program of the ringer.
func (x *ward) ring(rings func(n *node.Node)) {
	x.Step("sends")
	x.sent = true
	rings(node.New(x.seg, x, ringer))
}

// declare has the survivor declare the ringer dead.
func (x *ward) declare() {
	x.engine.mu.Lock()
	defer x.engine.mu.Unlock()
	x.engine.rules.step(control.Lost{Proc: ringer})
}

// TestDeathOfARingerInEveryOrder: a process sends to others and rings for them, one by one or at
// once, and dies at any step: it has taken flags down and has woken nobody, or has moved sleepers
// to the assembly. Where no daemon wakes the sleepers of the node the death that another process
// declares does: in no order does anybody sleep on.
func TestDeathOfARingerInEveryOrder(t *testing.T) {
	for name, rings := range map[string]func(n *node.Node){
		"one":         func(n *node.Node) { n.Notify(sleepers, park.Caller) },
		"one by one":  func(n *node.Node) { n.Notify(sleepers, park.Caller); n.Notify(sleepers+1, park.Caller) },
		"all at once": func(n *node.Node) { n.NotifyAll([]int{sleepers, sleepers + 1}, park.Caller) },
	} {
		t.Run(name, func(t *testing.T) {
			processes := sleepers + 2
			if name == "one" {
				processes--
			}
			states, err := interleave.Visit(100_000, func(w *interleave.World) {
				x := newWard(w, processes)
				for p := sleepers; p < processes; p++ {
					w.Go(fmt.Sprint("sleeper ", p), func() { x.sleep(p) })
				}
				w.Go("ringer", func() { x.ring(rings) }).Mortal(func() { x.ended = true })
				w.Go("survivor", func() {
					w.Await("declares the death", func() bool { return x.ended })
					x.declare()
				}).MayWait()
			})
			require.NoError(t, err)
			t.Logf("%d states", states)
			assert.Greater(t, states, 100)
		})
	}
}

// wakes is a daemon that does nothing but wake the processes of a ward.
type wakes struct{ x *ward }

func (wakes) Declare(int, bool)          {}
func (d wakes) WakeAll()                 { d.x.seg.WakeAll(d.x) }
func (wakes) Signal(int, syscall.Signal) {}
func (wakes) KillAll()                   {}
func (wakes) Say(int, rankproto.Message) {}

// TestDeathAfterTheDeclarationInEveryOrder: with --fence a process is declared dead that lives,
// rings for a sleeper, and dies later, at any step. The survivor rings for the sleeper at any time.
// In no order does it sleep on: the launcher wakes all when the process is reaped.
func TestDeathAfterTheDeclarationInEveryOrder(t *testing.T) {
	states, err := interleave.Visit(100_000, func(w *interleave.World) {
		const processes = sleepers + 1
		x := newWard(w, processes)
		host := jobhost.Base{Daemon: wakes{x}, Rules: job.New(job.Config{Ranks: processes, Procs: processes, Ring: true, Fence: true})}
		for p := range processes {
			host.Apply(job.Forked{Proc: p})
			host.Apply(job.Joined{Proc: p})
		}
		w.Go("sleeper", func() {
			n := node.New(x.seg, x, sleepers)
			for !x.sent {
				epoch := n.Epoch()
				w.Forget(epoch)
				n.Sleep(park.Caller, func() bool {
					w.Saw(segment.Load32(n.Doorbell(sleepers)))
					w.Step("looks")
					return x.sent || n.Epoch() != epoch
				}, -1)
			}
		})
		w.Go("ringer", func() { node.New(x.seg, x, ringer).Notify(sleepers, park.Caller) }).Mortal(func() { x.ended = true })
		w.Go("sender", func() {
			w.Step("sends")
			x.sent = true
			node.New(x.seg, x, survivor).Notify(sleepers, park.Caller)
		})
		w.Go("survivor", x.declare)
		w.Go("launcher", func() {
			w.Await("reaps the ringer", func() bool { return x.ended })
			host.Found(ringer, job.ByTombstone, false, 1)
			host.Reaped(ringer, job.Status{Signal: 9})
		}).MayWait()
	})
	require.NoError(t, err)
	t.Logf("%d states", states)
	assert.Greater(t, states, 1000)
}
