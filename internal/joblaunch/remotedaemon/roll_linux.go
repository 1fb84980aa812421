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
// verdict about a node, the launcher. Each process is entered once.
type roll struct {
	mu        sync.Mutex
	d         *daemon.Daemon
	nodes     []int  // by seat: its node
	entered   []bool // by seat
	announced int    // processes of lower seats are there, or will be
	lost      []bool // by node: declared dead
}

// newRoll returns the list of a node on which nobody has departed yet.
func newRoll(d *daemon.Daemon, nodes []int, count int) *roll {
	return &roll{d: d, nodes: nodes, entered: make([]bool, len(nodes)), lost: make([]bool, count)}
}

// vacate forgets a process: the next one in its seat is another.
func (r *roll) vacate(proc int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	seat := job.SeatOf(proc)
	if proc < 0 || seat >= len(r.entered) || !r.entered[seat] {
		return fmt.Errorf("process %d has not departed", proc)
	}
	if pausepoint.Enabled {
		pausepoint.At("remotedaemon.vacates")
	}
	if err := r.d.Vacate(proc); err != nil {
		return err
	}
	r.entered[seat] = false
	return nil
}

// enter notes that a process has departed, and wakes all, if it is the one of its seat: other
// daemons' news may come long after the end was known, when another process has the seat.
//
//	node 1: its process dies; notifies the launcher, and in the next packet node 0
//	launcher: notifies node 0. All let go; the seat is vacated on both, a new process has it
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

// isNew reports whether a process has its seat and was not entered yet. The caller holds mu.
func (r *roll) isNew(proc int) bool {
	seat := job.SeatOf(proc)
	if proc < 0 || seat >= len(r.entered) || r.entered[seat] || r.d.Number(seat) != proc {
		return false
	}
	r.entered[seat] = true
	return true
}

// lose notes that a node was declared dead, and its processes with it.
func (r *roll) lose(node int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost[node] = true
	r.enterLostNodes()
}

// announce notes that processes of lower seats than n are there, or will be. The verdict about the
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
	for seat, node := range r.nodes[:r.announced] {
		if proc := r.d.Number(seat); r.lost[node] && r.isNew(proc) {
			r.d.DeclareLost(proc)
			wake = true
		}
	}
	if wake {
		r.d.WakeAll()
	}
}
