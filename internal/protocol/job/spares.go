package job

import "slices"

// spares are processes that wait in Init for a rank to replace: with them a repair starts no
// process. Spares have received no data about others, so no process refers to them, and their
// deaths are no losses.
//
//	Refill ──▶ SpareRoom ──▶ Start, Forked, Joined ──▶ waits ──▶ Wanted{Replace}: a batch, answered at once
//	                                                     ▲          │
//	                                                     └─ dropped ┴▶ kept: one of the world, not a spare
type spares struct {
	asked   int   // Refills that wait for their SpareRoom
	coming  []int // slots of those that are not in Init yet
	waiting []int // slots of those that are, ascending
	wasted  int   // that ended while they waited, since one was taken
	started int   // processes for ranks and for spares to come, beyond the first spares: see Config.Respawn
}

// wastedMax is the number of spares that may end, one after the other, before no more are started:
// their program does not come through Init, or an outsider kills them.
const wastedMax = 10

// refill requests room for the missing spares, once the job has begun. later: a repair has just
// taken the missing ones.
func (r *Rules) refill(later bool) {
	s := &r.spares
	if r.cfg.Spares == 0 || r.joined < r.cfg.Ranks || r.ending || s.wasted >= wastedMax || r.isOver() {
		return
	}
	for len(s.waiting)+len(s.coming)+s.asked < r.cfg.Spares && r.mayStart(s.asked+1) {
		s.asked++
		r.do(Refill{Later: later})
	}
}

// mayStart reports whether n more processes may be started.
func (r *Rules) mayStart(n int) bool {
	return !r.cfg.Limited || r.spares.started+n <= r.cfg.Respawn+r.cfg.Spares
}

// addSpare starts a spare, if there is room.
func (r *Rules) addSpare(ev SpareRoom) {
	r.spares.asked--
	first, ok := r.roomFor(Wanted{N: 1, Vacant: ev.Vacant, Barred: ev.Barred}).findSlots()
	if !ok || r.ending || r.isOver() || !r.mayStart(1) {
		return
	}
	start := r.take(first, 1)
	start.Spare = true
	r.procs[first].Spare = true
	r.spares.started++
	r.spares.coming = append(r.spares.coming, first)
	r.do(start)
}

// forkSpare notes that a spare runs. If the job is over already the spare is ended.
func (r *Rules) forkSpare(p *Process) {
	if r.isOver() {
		r.dismiss(p)
	}
}

// forgetSpare notes that a spare could not be started.
func (r *Rules) forgetSpare(p *Process) {
	r.spares.coming = without(r.spares.coming, p.Slot)
	p.Spare = false
	r.spares.wasted++
}

// awaitTurn notes that a spare is in Init.
func (r *Rules) awaitTurn(slot int) {
	s := &r.spares
	if !slices.Contains(s.coming, slot) {
		return
	}
	s.coming = without(s.coming, slot)
	s.waiting = append(s.waiting, slot)
	slices.Sort(s.waiting)
	r.do(Waits{r.procs[slot].Number()})
}

// takeSpares gives a batch spares in consecutive slots: those with which the fullest of their nodes
// has the fewest processes that work. A waiting spare uses no core.
func (r *Rules) takeSpares(ev Wanted) bool {
	s := &r.spares
	best, least := -1, 0
	load := r.loads()
	if load != nil {
		for _, slot := range s.waiting {
			if !r.procs[slot].Declared {
				load[r.cfg.Nodes[slot]]--
			}
		}
	}
	for _, first := range s.waiting {
		if !r.waits(first, ev.N) {
			continue
		}
		full := 0
		if r.cfg.Nodes != nil {
			full = r.cfg.fullest(load, first, ev.N)
		}
		if best < 0 || full < least {
			best, least = first, full
		}
	}
	if best < 0 {
		return false
	}
	for slot := best; slot < best+ev.N; slot++ {
		s.waiting = without(s.waiting, slot)
	}
	s.wasted = 0
	b := newBatch(r.procs[best], ev)
	b.joined, b.spares = ev.N, true
	r.batches = append(r.batches, b)
	r.answer(b, false, "")
	return true
}

// waits reports whether n slots from first on are those of waiting spares.
func (r *Rules) waits(first, n int) bool {
	for slot := first; slot < first+n; slot++ {
		if !slices.Contains(r.spares.waiting, slot) || r.procs[slot].Declared {
			return false
		}
	}
	return true
}

// giveBack returns the spares of a batch that no process keeps to the waiting ones.
func (r *Rules) giveBack(b *batch) {
	for slot := b.first; slot < b.first+b.count; slot++ {
		if p := &r.procs[slot]; !p.Declared && !p.Reaped {
			r.spares.waiting = append(r.spares.waiting, slot)
		}
	}
	slices.Sort(r.spares.waiting)
	r.forget(b)
}

// loseSpare notes that a spare has ended.
func (r *Rules) loseSpare(p *Process) {
	p.Dropped = true
	r.spares.coming, r.spares.waiting = without(r.spares.coming, p.Slot), without(r.spares.waiting, p.Slot)
	r.spares.wasted++
}

// isOver reports whether only spares are left: the first ranks and all processes started since have
// ended.
func (r *Rules) isOver() bool {
	for i := range r.procs {
		p := &r.procs[i]
		if !p.Spare && !p.Heard && (r.cfg.beginsWith(*p) || p.Present || r.batchOf(i) != nil) {
			return false
		}
	}
	return !slices.ContainsFunc(r.batches, func(b *batch) bool { return b.spares })
}

// dismissIfOver ends the spares when no process is left that could need them.
func (r *Rules) dismissIfOver() {
	if r.cfg.Spares == 0 || !r.isOver() {
		return
	}
	for i := range r.procs {
		if p := &r.procs[i]; p.Spare && p.Present && !p.Reaped {
			r.dismiss(p)
		}
	}
}

func (r *Rules) dismiss(p *Process) {
	p.Dropped = true
	r.kill(p)
}

func without(slots []int, slot int) []int {
	return slices.DeleteFunc(slots, func(s int) bool { return s == slot })
}
