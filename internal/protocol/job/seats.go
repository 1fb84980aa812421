package job

import "slices"

// A room is the seats of the job, for one request: which of them it can have, now or soon.
type room struct {
	*Rules
	ev Wanted
}

func (r *Rules) roomFor(ev Wanted) room { return room{r, ev} }

// findSeats returns the first of ev.N seats in a row that nobody has. Where seats are on several
// nodes, those with which the fullest node has the fewest processes; of equals the first ones,
// which others had.
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

// loads returns how many processes each node has that live, or are to be started; nothing where
// there is one node.
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

// fullest returns how many processes the fullest of the nodes of n seats would have.
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

// isUnused says whether the process for which a seat was taken was never started, and will not
// be. One of the first ranks will be, though another may ask for processes before:
//
//	launcher: starts rank 0 ...            starts rank 2
//	rank 0:                  spawn of two
//
// Rank 2's seat, given away in between, would have two processes.
func (r *Rules) isUnused(seat int) bool {
	p := &r.procs[seat]
	first := seat < r.cfg.Ranks && p.Generation == 0
	return !p.Present && !first && !p.Spare && r.batchOf(seat) == nil
}

// isVacant says whether the process of a seat is over for these rules, too.
func (r *Rules) isVacant(seat int) bool {
	p := &r.procs[seat]
	speaks := func(b *batch) bool { // others may still say of it that it cannot keep a batch
		return b.has(seat) || b.root == p.Number() || slices.Contains(b.parents, p.Number())
	}
	return p.Present && p.Declared && p.Heard && !slices.ContainsFunc(r.batches, speaks)
}

// mayBeVacant says whether there are as many seats as the request wants that are free, or may be
// soon. That of a dead process to which the root refers is neither: the root waits for the answer.
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

// mayLeave reports whether there would be as many seats as a Spawn wants if all processes ended
// that do not take part in the Spawn. They may be about to end, which nobody knows yet:
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

// maybeLetGo says whether a seat is that of a process which is gone, and of which all others may
// let go.
func (r *Rules) maybeLetGo(seat int) bool {
	if seat >= len(r.procs) {
		return false
	}
	p := &r.procs[seat]
	return p.Present && p.Declared && !(p.Silenced && r.cfg.Fence)
}
