package job

import "slices"

// A room is the slots of the job, for one request: those that the request can have, now or soon.
type room struct {
	*Rules
	ev Wanted
}

func (r *Rules) roomFor(ev Wanted) room { return room{r, ev} }

// findSlots returns the first of ev.N free slots in a row. If slots are on several nodes, it
// chooses those for which the fullest node has the fewest processes; of equals the first ones,
// which other processes had.
func (r room) findSlots() (first int, ok bool) {
	ev := r.ev
	load := r.loads()
	best, least := 0, -1
	for slot := 0; slot+ev.N <= r.cfg.Procs; slot++ {
		taken := r.takenAmong(slot)
		if taken >= 0 {
			slot = taken
			continue
		}
		if r.cfg.Nodes == nil {
			return slot, true
		}
		if full := r.cfg.fullest(load, slot, ev.N); least < 0 || full < least {
			best, least = slot, full
		}
	}
	return best, least >= 0
}

// takenAmong returns the last of the slots from first on that the request cannot have, or -1.
func (r room) takenAmong(first int) int {
	for slot := first + r.ev.N - 1; slot >= first; slot-- {
		if !r.isFree(slot) {
			return slot
		}
	}
	return -1
}

func (r room) isFree(slot int) bool {
	ev := r.ev
	if slices.Contains(ev.Barred, slot) {
		return false
	}
	return slot >= len(r.procs) || r.isUnused(slot) || slices.Contains(ev.Vacant, slot) && r.isVacant(slot)
}

// loads returns the number of processes of each node that live, or are to be started; nil if there
// is one node.
func (r *Rules) loads() (load []int) {
	if r.cfg.Nodes == nil {
		return nil
	}
	for slot := range r.procs {
		if !r.procs[slot].Declared && !r.isUnused(slot) {
			load = addTo(load, r.cfg.Nodes[slot])
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

// fullest returns the number of processes that the fullest of the nodes of n slots would have.
func (c *Config) fullest(load []int, first, n int) (most int) {
	load = slices.Clone(load)
	for slot := first; slot < first+n; slot++ {
		load = addTo(load, c.Nodes[slot])
	}
	for slot := first; slot < first+n; slot++ {
		most = max(most, load[c.Nodes[slot]])
	}
	return most
}

// isUnused reports whether the process for which a slot was taken was never started, and will not
// be. One of the first ranks will be started, although another may request processes before:
//
//	launcher: starts rank 0 ...            starts rank 2
//	rank 0:                  spawn of two
//
// If rank 2's slot were given to another process in between, it would have two processes.
func (r *Rules) isUnused(slot int) bool {
	p := &r.procs[slot]
	return !p.Present && !r.cfg.beginsWith(*p) && !p.Spare && r.batchOf(slot) == nil
}

// isVacant reports whether the process of a slot is over for these rules, too.
func (r room) isVacant(slot int) bool {
	p := &r.procs[slot]
	speaks := func(b *batch) bool { // other processes may still report that it cannot keep a batch
		return b.has(slot) || b.root == p.Number() || slices.Contains(b.parents, p.Number())
	}
	return p.Present && p.Declared && p.Heard && !slices.ContainsFunc(r.batches, speaks)
}

// mayBeVacant reports whether the requested number of slots is free, or may be soon. The slot of a
// dead process to which the root refers is neither: the root waits for the answer.
func (r room) mayBeVacant() bool {
	ev := r.ev
	free := 0
	for slot := range r.cfg.Procs {
		if r.isFree(slot) || r.maybeLetGo(slot) && !slices.Contains(ev.Barred, slot) && !slices.Contains(ev.Parents, r.procs[slot].Number()) && !slices.Contains(ev.Kept, slot) {
			free++
		}
	}
	return ev.N <= free
}

// mayLeave reports whether a Spawn would have the slots that it needs if all processes ended that
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
	for slot := range r.cfg.Procs {
		asks := slot < len(r.procs) && slices.Contains(ev.Parents, r.procs[slot].Number())
		if lost := slices.Contains(ev.Barred, slot); !asks && !lost {
			free++
		}
	}
	return !ev.Replace && ev.N <= free
}

// maybeLetGo reports whether the process of a slot has ended, so that all others may release the
// slot.
func (r room) maybeLetGo(slot int) bool {
	if slot >= len(r.procs) {
		return false
	}
	p := &r.procs[slot]
	return p.Present && p.Declared && !(p.Silenced && r.cfg.Fence)
}
