package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/segment"
	"golang.org/x/sys/unix"
)

// Barred returns none: see the daemons of several nodes.
func (d *Daemon) Barred() []int { return nil }

// Vacant returns the seats, ascending, of processes that are reaped and of which all others that
// run have let go.
func (d *Daemon) Vacant() (seats []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for seat := range d.node.Started() {
		if d.isGone(seat) && len(d.holders(seat)) == 0 {
			seats = append(seats, seat)
		}
	}
	return seats
}

// isGone says whether the process of a seat is reaped and in the list of departures. The caller
// holds mu.
func (d *Daemon) isGone(seat int) bool {
	p := d.procs[seat]
	_, departed := d.node.Departed(seat)
	return p != nil && p.reaped && departed
}

// holders are the processes that may refer to that of a seat: those that run, have not finished,
// and have not said that they let go of it. One that is on its way into the job may refer to all; a
// spare will, once it is told its world.
// The caller holds mu.
func (d *Daemon) holders(seat int) (by []int) {
	for other := range d.node.Started() {
		p := d.procs[other]
		if p != nil && !p.reaped && !p.spare && d.node.StateOf(other) != segment.Left && !d.node.HasLetGo(other, seat) {
			by = append(by, other)
		}
	}
	return by
}

// HeldBy returns the seats, ascending, of processes that are gone and to which proc still refers.
func (d *Daemon) HeldBy(proc int) (seats []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for seat := range d.node.Started() {
		if d.isGone(seat) && slices.Contains(d.holders(seat), proc) {
			seats = append(seats, seat)
		}
	}
	return seats
}

// heldMax is how many seats Held names.
const heldMax = 8

// Held says for people which seats of the gone are not vacant, and whose processes hold them.
func (d *Daemon) Held() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var held []string
	for seat := range d.node.Started() {
		if by := d.holders(seat); d.isGone(seat) && len(by) > 0 {
			held = append(held, fmt.Sprintf("that of seat %d by %s", seat, strings.Trim(strings.ReplaceAll(fmt.Sprint(by), " ", ","), "[]")))
		}
	}
	if len(held) > heldMax {
		held = append(held[:heldMax], fmt.Sprintf("and %d more", len(held)-heldMax))
	}
	return strings.Join(held, ", ")
}

// Vacate makes a seat free for the next process: its lines of the node's tables are cleared, and
// the memory of its arena is given back, so that replacements without end take no more of it.
func (d *Daemon) Vacate(seat int) error {
	stride := int64(segment.ArenaStride(d.node.Procs()))
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if err := unix.Fallocate(int(d.memory[1].Fd()), punch, int64(seat)*stride, stride); err != nil {
		return fmt.Errorf("clear the memory of seat %d: %w", seat, err)
	}
	d.node.Vacate(seat)
	return nil
}
