package job

import (
	"fmt"
	"slices"
)

// A batch is the processes that one call of Spawn has started. They have consecutive numbers and
// wait in Init until one of their parents reports that all parents agree.
//
//	root: spawn ...                      launcher: starts them, answers with the first number
//	root and the others agree: all have the communicator, or none
//	each of them: keep ... or drop       launcher: passes the first keep on, or ends the batch
//
// Any live parent reports the agreement; if none is left the batch ends, too.
type batch struct {
	first, count int   // slots
	number       int   // of the process in the first slot; other processes name the batch by it
	root         int   // a number
	parents      []int // numbers of those that could keep it

	token  uint64 // of the root's request
	joined int    // processes in Init
	told   bool   // the root has its answer
	over   bool   // no process keeps it: its processes end, also those that are still being started
	missed bool   // one could not be started
	spares bool   // its processes were spares

	// A batch is remembered until all parents that live have kept or refused it; see settle.
	keepers  []int // numbers
	refusers []int // numbers
	ranked   bool  // the replacements get ranks among the parents
	refused  bool  // a living parent has refused it
}

func (b *batch) has(slot int) bool { return slot >= b.first && slot < b.first+b.count }

// batchOf returns the batch that has a slot, or nil.
func (r *Rules) batchOf(slot int) *batch {
	if i := slices.IndexFunc(r.batches, func(b *batch) bool { return b.has(slot) }); i >= 0 {
		return r.batches[i]
	}
	return nil
}

// want gives a batch its slots, or refuses the request.
func (r *Rules) want(ev Wanted) {
	no := Answer{Root: ev.Root, Token: ev.Token, Why: ev.Bad}
	root := r.proc(ev.Root)
	switch {
	case ev.Bad != "":
	case root == nil || root.Declared:
		// The other parents may have refused the batch already, when there was no batch to end: a
		// batch that is started now would wait for ever.
		no.Why = fmt.Sprintf("rank %d, which asked for them, has died", ev.Root)
	case r.ending:
		no.Why = "the job has ended"
	case ev.Replace && r.takeSpares(ev):
		return
	case ev.Replace && !r.mayStart(ev.N):
		no.Short, no.Why = true, fmt.Sprintf("the job may start %d processes to replace others, and has started %d (goulfm run --respawn)", r.cfg.Respawn, max(r.spares.started-r.cfg.Spares, 0))
	default:
		room := r.roomFor(ev)
		first, ok := room.findSlots()
		switch {
		case ok:
			if ev.Replace {
				r.spares.started += ev.N
			}
			r.slot(first, ev)
			return
		case !ev.Last && room.mayBeVacant(), ev.Early && room.mayLeave():
			r.do(Postpone{})
			return
		}
		no.Short = true
		no.Why = r.full(ev)
	}
	r.do(no)
}

func (r *Rules) full(ev Wanted) string {
	if !r.roomFor(ev).mayBeVacant() {
		return fmt.Sprintf("%d processes asked for, and of the %d that the job can have at a time %d are there: give it more with goulfm run --universe N", ev.N, r.cfg.Procs, len(r.procs))
	}
	return fmt.Sprintf("%d processes asked for, and no %d slots in a row are free of the %d that the job has: others still refer to the dead (%s): free communicators with them, or give it more with goulfm run --universe N", ev.N, ev.N, r.cfg.Procs, ev.Held)
}

// slot gives a batch the slots from first on.
func (r *Rules) slot(first int, ev Wanted) {
	start := r.take(first, ev.N)
	r.batches = append(r.batches, newBatch(r.procs[first], ev))
	r.do(start)
}

// newBatch returns the batch that begins with a process.
func newBatch(first Process, ev Wanted) *batch {
	return &batch{first: first.Slot, number: first.Number(), count: ev.N, root: ev.Root, parents: slices.Clone(ev.Parents), token: ev.Token}
}

// take gives n new processes the slots from first on.
func (r *Rules) take(first, n int) Start {
	start := Start{First: first, Count: n}
	for slot := first; slot < first+n; slot++ {
		for len(r.procs) <= slot { // the slots before may be left out: their node is full, or lost
			r.procs = append(r.procs, Process{Slot: len(r.procs)})
		}
		old := r.procs[slot]
		if r.isUnused(slot) {
			continue
		}
		if !old.Spare {
			r.past.add(old)
		}
		r.procs[slot] = Process{Slot: slot, Generation: old.Generation + 1}
		start.Used = append(start.Used, slot)
	}
	return start
}

// answer reports to the root of a batch, once, that its processes are in Init, or why there are
// none. died: the failure is not the fault of their program.
func (r *Rules) answer(b *batch, died bool, why string) {
	if !b.told {
		r.do(Answer{Root: b.root, Token: b.token, First: b.number, N: b.count, Died: died, Why: why})
	}
	b.told = true
}

// endBeforeInit returns the reason why a process has ended before it was in Init. died: the failure
// is not the fault of its program.
func endBeforeInit(p Process) (died bool, why string) {
	switch {
	case p.By == ByNode:
		return true, fmt.Sprintf("rank %d was lost with its node before it was in Init", p.Number())
	case p.By == BySilence || p.Status.Signal != 0:
		return true, fmt.Sprintf("rank %d was killed before it was in Init", p.Number())
	}
	return false, fmt.Sprintf("rank %d ended before it was in Init: is it a goulfm program of this build?", p.Number())
}

// startedOne notes that a process of a batch runs. The batch may be over already.
func (r *Rules) startedOne(b *batch, p *Process) {
	if b.over {
		p.Dropped = true
		r.kill(p)
	}
	r.forgetIfDone(b)
}

// abandon ends a batch if one of its processes could not be started. A process that was never
// started counts as dead: no other process waits for it.
func (r *Rules) abandon(ev NotStarted) {
	p := r.proc(ev.Proc)
	if p == nil {
		return
	}
	if p.Spare {
		r.forgetSpare(p)
		return
	}
	b := r.batchOf(p.Slot)
	if b == nil {
		return
	}
	b.missed = true
	r.answer(b, ev.NodeLost, fmt.Sprintf("start rank %d: %s", ev.Proc, ev.Why))
	r.drop(b)
}

// countInInit notes that a process of a batch is in Init.
func (r *Rules) countInInit(slot int) {
	if b := r.batchOf(slot); b != nil && !b.over {
		if b.joined++; b.joined == b.count {
			r.answer(b, false, "")
		}
	}
}

// lose notes that a process has ended and that all of its messages were read. It may be one of a
// batch, or the last one that could keep a batch.
func (r *Rules) lose(p *Process) {
	if b := r.batchOf(p.Slot); b != nil && !b.told && !b.over {
		died, why := endBeforeInit(*p)
		r.answer(b, died, why)
		r.drop(b)
	}
	for _, b := range slices.Clone(r.batches) {
		switch {
		case b.over:
		case len(b.keepers) > 0:
			r.settle(b)
		case !slices.ContainsFunc(b.parents, r.mayKeep):
			r.drop(b)
		}
	}
}

// mayKeep reports whether a process may still report that it keeps a batch.
func (r *Rules) mayKeep(number int) bool {
	p := r.proc(number)
	return p != nil && !p.Heard && !(p.Silenced && r.cfg.Fence)
}

// drop ends a batch that no process keeps.
func (r *Rules) drop(b *batch) {
	if b.spares {
		r.giveBack(b)
		return
	}
	b.over = true
	for slot := b.first; slot < b.first+b.count; slot++ {
		if p := &r.procs[slot]; p.Present {
			p.Dropped = true
			r.kill(p)
		}
	}
	r.forgetIfDone(b)
}

// forgetIfDone forgets a batch that is over, once none of its processes is still to be started:
// until then the ones that start have to be ended.
func (r *Rules) forgetIfDone(b *batch) {
	toStart := func() bool {
		return slices.ContainsFunc(r.procs[b.first:b.first+b.count], func(p Process) bool { return !p.Present })
	}
	if b.over && (b.missed || !toStart()) {
		r.forget(b)
	}
}

func (r *Rules) forget(b *batch) {
	r.batches = slices.DeleteFunc(r.batches, func(x *batch) bool { return x == b })
}

// keep passes on the agreement of the parents of a batch.
func (r *Rules) keep(ev Kept) {
	b := r.batchOf(SlotOf(ev.First))
	if b == nil || b.number != ev.First || b.over || !slices.Contains(b.parents, ev.By) {
		return // another parent has dropped it; or it has the slot of a batch that was dropped before this event
	}
	if len(b.keepers) == 0 {
		b.ranked = ev.Ranked
		r.passKeep(b)
	}
	b.keepers = append(b.keepers, ev.By)
	r.settle(b)
}

// passKeep reports to replacements that they are kept; spares are ordinary processes from here on.
func (r *Rules) passKeep(b *batch) {
	r.do(PassKeep{b.first, b.count})
	for slot := b.first; b.spares && slot < b.first+b.count; slot++ {
		if p := &r.procs[slot]; p.Spare {
			r.becomesRank(p)
		}
		r.procs[slot].Spare, r.procs[slot].Dropped = false, false
	}
	b.spares = false
	r.refill(true)
}

// settle ends the record of a batch that was kept: when every live parent has reported its result,
// or when replacements with ranks are orphans. Until then the slots of the replacements are not
// used again:
//
//	0 keeps the batch in slot 4                1 knows that it is kept, and has not said so yet
//	the process in slot 4 dies; another batch of 0 and 1 starts in slot 4
//	                                           keeps the batch in slot 4: the new one?
//
// Orphans:
//
//	0 decides: there are replacements, who get ranks. It says so, and dies.
//	1 and 2 decide later, without 0: there are none. They have others started.
//
// The first replacements have a communicator with 1 and 2, which will never use it. The
// replacements would wait until 1 and 2 have ended, and then begin again alone.
func (r *Rules) settle(b *batch) {
	alive := func(number int) bool { return !r.isKnownDead(number) }
	split := b.ranked && b.refused
	if split && !slices.ContainsFunc(b.keepers, alive) {
		r.drop(b)
		return
	}
	waits := func(number int) bool {
		return r.mayKeep(number) && !slices.Contains(b.keepers, number) && !slices.Contains(b.refusers, number)
	}
	if !split && !slices.ContainsFunc(b.parents, waits) {
		r.forget(b)
	}
}

func (r *Rules) settleAll() {
	for _, b := range slices.Clone(r.batches) {
		if len(b.keepers) > 0 && !b.over {
			r.settle(b)
		}
	}
}

// isKnownDead reports whether a death was declared. A process that has left in peace is not dead.
func (r *Rules) isKnownDead(number int) bool {
	p := r.proc(number)
	return p == nil || p.Declared && !p.Left
}

// dropUnwanted ends the remains of a failed Spawn: the batch that its root names, or, if the root
// died before the others learned the number, the batches that no other process can keep.
func (r *Rules) dropUnwanted(ev Unwanted) {
	root := r.proc(ev.Root)
	for _, b := range slices.Clone(r.batches) {
		named := ev.N > 0 && b.number == ev.First
		unnamed := ev.N == 0 && b.root == ev.Root && root != nil && root.Declared
		switch {
		case !named && !unnamed || !slices.Contains(b.parents, ev.By) || slices.Contains(b.keepers, ev.By):
		case len(b.keepers) > 0:
			b.refusers = append(b.refusers, ev.By)
			b.refused = b.refused || !r.isKnownDead(ev.By)
			r.settle(b)
		default:
			r.drop(b)
		}
	}
}
