package job

import "slices"

// A room is the seats of the job, for one request: those that the request can have, now or soon.
type room struct {
	*Rules
	ev Wanted
}

func (r *Rules) roomFor(ev Wanted) room { return room{r, ev} }

// findSeats returns the first of ev.N free seats in a row. If seats are on several nodes, it
// chooses those for which the fullest node has the fewest processes; of equals the first ones,
// which other processes had.
func (r room) findSeats() (first int, ok bool) {
	ev := r.ev
	load := r.loads()
	best, least := 0, -1
	for seat := 0; seat+ev.N <= r.cfg.Procs; seat++ {
		taken := r.takenAmong(seat)
		if taken >= 0 {
			seat = taken
			continue
		}
		if r.cfg.Nodes == nil {
			return seat, true
		}
		if full := r.fullest(load, seat, ev.N); least < 0 || full < least {
			best, least = seat, full
		}
	}
	return best, least >= 0
}

// takenAmong returns the last of the seats from first on that the request cannot have, or -1.
func (r room) takenAmong(first int) int {
	for seat := first + r.ev.N - 1; seat >= first; seat-- {
		if !r.isFree(seat) {
			return seat
		}
	}
	return -1
}

func (r room) isFree(seat int) bool {
	ev := r.ev
	if slices.Contains(ev.Barred, seat) {
		return false
	}
	return seat >= len(r.procs) || r.isUnused(seat) || slices.Contains(ev.Vacant, seat) && r.isVacant(seat)
}

// loads returns the number of processes of each node that live, or are to be started; nil if there
// is one node.
func (r *Rules) loads() (load []int) {
	if r.cfg.Nodes == nil {
		return nil
	}
	for seat := range r.procs {
		if !r.procs[seat].Declared && !r.isUnused(seat) {
			load = addTo(load, r.cfg.Nodes[seat])
		}
	}
	return load
}

func addTo(load []int, node int) []int {
	for len(load) <= node {
		load = append(load, 0)
	}
	load[node]++
	return load
}

// fullest returns the number of processes that the fullest of the nodes of n seats would have.
func (r *Rules) fullest(load []int, first, n int) (most int) {
	load = slices.Clone(load)
	for seat := first; seat < first+n; seat++ {
		load = addTo(load, r.cfg.Nodes[seat])
	}
	for seat := first; seat < first+n; seat++ {
		most = max(most, load[r.cfg.Nodes[seat]])
	}
	return most
}

// isUnused reports whether the process for which a seat was taken was never started, and will not
// be. One of the first ranks will be started, although another may request processes before:
//
//	launcher: starts rank 0 ...            starts rank 2
//	rank 0:                  spawn of two
//
// If rank 2's seat were given to another process in between, it would have two processes.
func (r *Rules) isUnused(seat int) bool {
	p := &r.procs[seat]
	first := seat < r.cfg.Ranks && p.Generation == 0
	return !p.Present && !first && !p.Spare && r.batchOf(seat) == nil
}

// isVacant reports whether the process of a seat is over for these rules, too.
func (r *Rules) isVacant(seat int) bool {
	p := &r.procs[seat]
	speaks := func(b *batch) bool { // other processes may still report that it cannot keep a batch
		return b.has(seat) || b.root == p.Number() || slices.Contains(b.parents, p.Number())
	}
	return p.Present && p.Declared && p.Heard && !slices.ContainsFunc(r.batches, speaks)
}

// mayBeVacant reports whether the requested number of seats is free, or may be soon. The seat of a
// dead process to which the root refers is neither: the root waits for the answer.
func (r room) mayBeVacant() bool {
	ev := r.ev
	free := 0
	for seat := range r.cfg.Procs {
		if r.isFree(seat) || r.maybeLetGo(seat) && !slices.Contains(ev.Barred, seat) && !slices.Contains(ev.Parents, r.procs[seat].Number()) && !slices.Contains(ev.Kept, seat) {
			free++
		}
	}
	return ev.N <= free
}

// mayLeave reports whether a Spawn would have the seats that it needs if all processes ended that
// do not take part in it. They may be about to end, although this is not known yet:
//
//	0           starts four processes, meets them at a barrier, frees the intercommunicator
//	1, 2, 3, 4  are in Finalize
//	0           asks for four more
//
// A Replace does not wait for that: in a repair the other processes are at work.
func (r room) mayLeave() bool {
	ev := r.ev
	free := 0
	for seat := range r.cfg.Procs {
		asks := seat < len(r.procs) && slices.Contains(ev.Parents, r.procs[seat].Number())
		if lost := slices.Contains(ev.Barred, seat); !asks && !lost {
			free++
		}
	}
	return !ev.Replace && ev.N <= free
}

// maybeLetGo reports whether the process of a seat has ended, so that all others may release the
// seat.
func (r *Rules) maybeLetGo(seat int) bool {
	if seat >= len(r.procs) {
		return false
	}
	p := &r.procs[seat]
	return p.Present && p.Declared && !(p.Silenced && r.cfg.Fence)
}
