// Package inproc connects ranks that are goroutines of one process, by the ring code of package
// transport over Go memory. So the race detector sees every access. The ranks sleep on channels, so
// that testing/synctest detects a blocked rank.
package inproc

import (
	"os"
	"sync"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A World is the shared memory of n goroutine ranks. In the role of a launcher, it keeps the list
// of departures.
type World struct {
	node    *segment.Node
	arenas  []*segment.Arena
	sleeper park.Sleeper
	mu      sync.Mutex
	gone    []bool
}

// New returns a world of n ranks.
func New(n int) *World {
	w := &World{node: segment.FormatNode(segment.Heap(segment.NodeBytes(n)), n, 1), sleeper: park.NewChannels(), gone: make([]bool, n)}
	for range n {
		w.arenas = append(w.arenas, segment.HeapArena(n))
	}
	return w
}

// Port returns the node and the link of one rank.
func (w *World) Port(me int) transport.End { return w.port(me, nil) }

// DirectPort is Port of a rank that copies large messages directly between memories, as processes
// do: all ranks are in this process.
func (w *World) DirectPort(me int) transport.End {
	return w.port(me, func(int) int { return os.Getpid() })
}

func (w *World) port(me int, pid func(proc int) int) transport.End {
	p, err := transport.NewPort(transport.Home{Node: w.node, Sleeper: w.sleeper, Pid: pid,
		Arena: func(proc int) (*segment.Arena, error) { return w.arenas[proc], nil }}, me)
	if err != nil {
		panic(err) // Arena never fails
	}
	return p.End()
}

// Depart publishes that a rank has departed: the rank died, or ended after leaving.
func (w *World) Depart(proc int, died bool) {
	w.node.SetEnded(proc)
	w.DepartUnended(proc, died)
}

// DepartUnended is Depart of a rank that still has a running thread. End must follow once that
// thread has ended.
func (w *World) DepartUnended(proc int, died bool) {
	w.mu.Lock()
	if !w.gone[proc] {
		w.gone[proc] = true
		why := segment.Retired
		if died {
			why = segment.Died
		}
		w.node.AppendDeath(proc, why)
	}
	w.mu.Unlock()
	w.node.WakeAll(w.sleeper)
}

// End publishes that a rank has no thread left.
func (w *World) End(proc int) { w.node.SetEnded(proc) }
