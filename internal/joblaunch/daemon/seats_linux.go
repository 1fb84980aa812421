package daemon

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"golang.org/x/sys/unix"
)

// Barred returns none: see the daemons of several nodes.
func (d *Daemon) Barred() []int { return nil }

// Holdings returns the seats, ascending, of departed processes: they are in the node's list of
// departures, and reaped if they were of this node. The holders in it are those of this node alone.
func (d *Daemon) Holdings() (all []job.Holding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for seat := range d.node.Started() {
		if d.isGone(seat) {
			all = append(all, job.Holding{Seat: seat, By: d.holders(seat)})
		}
	}
	return all
}

// isGone reports whether the process of a seat is in the list of departures, and reaped. The caller
// holds mu.
func (d *Daemon) isGone(seat int) bool {
	p := d.procs[seat] // nil: of another node
	_, departed := d.node.Departed(seat)
	return departed && (p == nil || p.reaped)
}

// holders are the processes of this node that may refer to that of a seat: those that run, have not
// finished, and have not let go of it. A process that is joining the job may refer to all; a spare
// will, once it receives its world. The caller holds mu.
func (d *Daemon) holders(seat int) (by []int) {
	for other := range d.node.Started() {
		p := d.procs[other]
		if p != nil && !p.reaped && !p.spare && d.node.StateOf(other) != segment.Left && !d.node.HasLetGo(other, seat) {
			by = append(by, other)
		}
	}
	return by
}

// AnyLeft reports whether a process of this node is through Finalize: all of the world that live
// have called it then.
func (d *Daemon) AnyLeft() bool {
	for seat := range d.node.Started() {
		if d.node.StateOf(seat) == segment.Left {
			return true
		}
	}
	return false
}

// Number is that of the process that has a seat, or will have it.
func (d *Daemon) Number(seat int) int { return job.NumberOf(seat, int(d.node.Generation(seat))) }

// Vacate makes the seat of a process free for the next one: its lines of the node's tables are
// cleared, and the memory of its arena is given back, so that replacements without end take no more
// of it.
func (d *Daemon) Vacate(proc int) error {
	seat := job.SeatOf(proc)
	if d.Number(seat) != proc {
		return fmt.Errorf("process %d: its seat is that of process %d", proc, d.Number(seat))
	}
	stride := int64(segment.ArenaStride(d.node.Procs()))
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if err := unix.Fallocate(int(d.memory[1].Fd()), punch, int64(seat)*stride, stride); err != nil {
		return fmt.Errorf("clear the memory of seat %d: %w", seat, err)
	}
	d.node.Vacate(seat)
	return nil
}
