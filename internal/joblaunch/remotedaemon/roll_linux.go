package remotedaemon

import (
	"fmt"
	"sync"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A roll is the node's list of departures, which its processes read. Several sources report the
// same end, in any order: this daemon of a process of its own, another daemon by its news, the
// declaration of a node, the launcher. Each process is entered once.
type roll struct {
	mu        sync.Mutex
	d         *daemon.Daemon
	nodes     []int  // by slot: its node
	entered   []bool // by slot
	announced int    // processes of lower slots are there, or will be
	lost      []bool // by node: declared dead
}

// newRoll returns the list of a node on which nobody has departed yet.
func newRoll(d *daemon.Daemon, nodes []int, count int) *roll {
	return &roll{d: d, nodes: nodes, entered: make([]bool, len(nodes)), lost: make([]bool, count)}
}

// vacate forgets a process: the next one in its slot is another.
func (r *roll) vacate(proc int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := job.SlotOf(proc)
	if proc < 0 || slot >= len(r.entered) || !r.entered[slot] {
		return fmt.Errorf("process %d has not departed", proc)
	}
	if pausepoint.Enabled {
		pausepoint.At("remotedaemon.vacates")
	}
	if err := r.d.Vacate(proc); err != nil {
		return err
	}
	r.entered[slot] = false
	return nil
}

// enter notes that a process has departed, and wakes all, if it is the one of its slot: other
// daemons' news may come long after the end was known, when another process has the slot.
//
//	node 1: its process dies; notifies the launcher, and in the next packet node 0
//	launcher: notifies node 0. All let go; the slot is vacated on both, a new process has it
//	node 0: has the packet
func (r *roll) enter(proc int, left bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isNew(proc) {
		if pausepoint.Enabled {
			pausepoint.At("remotedaemon.enters")
		}
		r.d.Declare(proc, left)
		r.d.WakeAll()
	}
}

// enterLost notes that it departed without exact evidence.
func (r *roll) enterLost(proc int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isNew(proc) {
		if pausepoint.Enabled {
			pausepoint.At("remotedaemon.loses")
		}
		r.d.DeclareLost(proc)
		r.d.WakeAll()
	}
}

// isNew reports whether a process has its slot and was not entered yet. The caller holds mu.
func (r *roll) isNew(proc int) bool {
	slot := job.SlotOf(proc)
	if proc < 0 || slot >= len(r.entered) || r.entered[slot] || r.d.Number(slot) != proc {
		return false
	}
	r.entered[slot] = true
	return true
}

// lose notes that a node was declared dead, and its processes with it.
func (r *roll) lose(node int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost[node] = true
	r.enterLostNodes()
}

// announce notes that processes of lower slots than n are there, or will be. The declaration of the
// node of some may have come before.
func (r *roll) announce(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.announced = max(r.announced, min(n, len(r.nodes)))
	r.d.Announce(n)
	r.enterLostNodes()
}

// enterLostNodes enters the processes of all lost nodes. The caller holds mu.
func (r *roll) enterLostNodes() {
	wake := false
	for slot, node := range r.nodes[:r.announced] {
		if proc := r.d.Number(slot); r.lost[node] && r.isNew(proc) {
			r.d.DeclareLost(proc)
			wake = true
		}
	}
	if wake {
		r.d.WakeAll()
	}
}
