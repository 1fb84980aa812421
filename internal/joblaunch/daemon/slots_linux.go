package daemon

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"golang.org/x/sys/unix"
)

// Barred returns none: see the daemons of several nodes.
func (d *Daemon) Barred() []int { return nil }

// Holdings returns the slots, ascending, of departed processes: they are in the node's list of
// departures, and reaped if they were of this node. The holders in it are those of this node alone.
func (d *Daemon) Holdings() (all []job.Holding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for slot := range d.node.Started() {
		if d.isGone(slot) {
			all = append(all, job.Holding{Slot: slot, By: d.holders(slot)})
		}
	}
	return all
}

// isGone reports whether the process of a slot is in the list of departures, and reaped. The caller
// holds mu.
func (d *Daemon) isGone(slot int) bool {
	p := d.procs[slot] // nil: of another node
	_, departed := d.node.Departed(slot)
	return departed && (p == nil || p.reaped)
}

// holders are the processes of this node that may refer to that of a slot: those that run, have not
// finished, and have not let go of it. A process that is joining the job may refer to all; a spare
// will, once it receives its world. The caller holds mu.
func (d *Daemon) holders(slot int) (by []int) {
	for other := range d.node.Started() {
		p := d.procs[other]
		if p != nil && !p.reaped && !p.spare && d.node.StateOf(other) != segment.Left && !d.node.HasLetGo(other, slot) {
			by = append(by, other)
		}
	}
	return by
}

// AnyLeft reports whether a process of this node is through Finalize: all of the world that live
// have called it then.
func (d *Daemon) AnyLeft() bool {
	for slot := range d.node.Started() {
		if d.node.StateOf(slot) == segment.Left {
			return true
		}
	}
	return false
}

// Number is that of the process that has a slot, or will have it.
func (d *Daemon) Number(slot int) int { return job.NumberOf(slot, int(d.node.Generation(slot))) }

// Vacate makes the slot of a process free for the next one: its lines of the node's tables are
// cleared, and the memory of its arena is given back, so that replacements without end take no more
// of it.
func (d *Daemon) Vacate(proc int) error {
	slot := job.SlotOf(proc)
	if d.Number(slot) != proc {
		return fmt.Errorf("process %d: its slot is that of process %d", proc, d.Number(slot))
	}
	stride := int64(segment.ArenaStride(d.node.Procs()))
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if err := unix.Fallocate(int(d.memory[1].Fd()), punch, int64(slot)*stride, stride); err != nil {
		return fmt.Errorf("clear the memory of slot %d: %w", slot, err)
	}
	d.node.Vacate(slot)
	return nil
}
