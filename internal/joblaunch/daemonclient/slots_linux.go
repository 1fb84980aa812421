package daemonclient

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A slot of a job on several nodes is reused as on a single node: when its process is reaped, and
// all others have let go of that process. Each daemon knows the references of the processes of its
// node; the launcher queries all daemons.
//
//	launcher            node 0              node 1
//	Census      ──▶     Census      ──▶
//	            ◀──     Holdings    ◀──     Holdings  nobody refers to slot 5's process
//	Vacate{5}   ──▶     Vacate{5}   ──▶
//	            ◀──     Vacated     ◀──     Vacated   slot 5 has the next generation
//	Start{5}                        ──▶               no frame is taken for an earlier
//	                                                  process's
//
// A process never refers again to a process that it has released, so an answer stays valid while
// others are awaited. The launcher waits for a node that does not answer: the node returns, or is
// declared dead, and its processes will not communicate again. Slots of dead nodes are barred.

// Holdings returns the slots, ascending, of processes that have departed according to all nodes,
// and the processes that may still refer to them.
func (f *Client) Holdings() (all []job.Holding) {
	asked := f.askAll(daemonproto.Census{})
	knows := map[int]int{} // by slot: nodes
	holders := map[int][]int{}
	nodes := 0
	for _, n := range asked {
		select {
		case some := <-n.census:
			nodes++
			for _, h := range some {
				knows[h.Slot]++
				holders[h.Slot] = append(holders[h.Slot], h.By...)
			}
		case <-n.lost:
		}
	}
	for _, slot := range slices.Sorted(maps.Keys(knows)) {
		if knows[slot] == nodes {
			all = append(all, job.Holding{Slot: slot, By: holders[slot]})
		}
	}
	return all
}

// Vacate makes all nodes forget a process, so that the next process can have its slot.
func (f *Client) Vacate(proc int) error {
	var why error
	for _, n := range f.askAll(daemonproto.Vacate{Proc: proc}) {
		select {
		case v := <-n.vacated:
			if v.Why != "" {
				why = fmt.Errorf("%s: %s", n, v.Why)
			}
		case <-n.lost:
		}
	}
	if why == nil {
		if pausepoint.Enabled {
			pausepoint.At("launcher.forgets")
		}
		f.mu.Lock()
		f.used[job.SlotOf(proc)]++
		f.mu.Unlock()
		f.telling.Lock()
		f.history.forget(proc)
		f.telling.Unlock()
	}
	return why
}

// askAll gives an order to all nodes that are not lost, and returns these.
func (f *Client) askAll(m daemonproto.Message) (asked []*node) {
	for _, n := range f.there() {
		if !n.isLost() {
			n.mouth.Say(m)
			asked = append(asked, n)
		}
	}
	return asked
}
