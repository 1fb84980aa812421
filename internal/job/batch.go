package job

import (
	"fmt"
	"slices"
)

// A batch is what one call of Spawn has started: processes with consecutive numbers that wait
// in Init until one of those who started them says that all of them agree.
//
//	root: spawn ...                      launcher: starts them, answers with the first number
//	root and the others agree: all have the communicator, or none
//	each of them: keep ... or drop       launcher: passes the first keep on, or ends the batch
//
// Whichever of them lives says so; if none is left the batch ends, too.
type batch struct {
	first, count int
	root         int
	parents      []int // those that could keep it

	token  uint64 // of the root's request
	joined int    // are in Init
	told   bool   // the root has its answer
	over   bool   // nobody keeps it: also those that are only now being started
	missed bool   // one could not be started
}

func (b *batch) has(number int) bool { return number >= b.first && number < b.first+b.count }

func (r *Rules) batchOf(number int) *batch {
	if i := slices.IndexFunc(r.batches, func(b *batch) bool { return b.has(number) }); i >= 0 {
		return r.batches[i]
	}
	return nil
}

// want gives a batch its seats, or refuses it.
func (r *Rules) want(ev Wanted) {
	no := Answer{Root: ev.Root, Token: ev.Token, Why: ev.Bad}
	root := r.proc(ev.Root)
	switch {
	case ev.Bad != "":
	case root == nil || root.Declared:
		// The others may have said already that they do not want it, when there was nothing
		// to end: it would wait for ever.
		no.Why = fmt.Sprintf("process %d, which asked for them, has died", ev.Root)
	case r.ending:
		no.Why = "the job has ended"
	default:
		first, ok := r.findSeats(ev.N, ev.Vacant)
		switch {
		case ok:
			r.seat(first, ev)
			return
		case !ev.Last && r.mayBeVacant(ev.N):
			r.do(Postpone{})
			return
		}
		no.Short = true
		no.Why = r.full(ev)
	}
	r.do(no)
}

// findSeats returns the first of n seats in a row that nobody has, those first that others had.
func (r *Rules) findSeats(n int, vacant []int) (first int, ok bool) {
	for seat := 0; seat+n <= r.cfg.Procs; seat++ {
		free := 0
		for free < n && (seat+free >= len(r.procs) || r.isUnused(seat+free) || slices.Contains(vacant, seat+free) && r.isVacant(seat+free)) {
			free++
		}
		if free == n {
			return seat, true
		}
		seat += free
	}
	return 0, false
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
	return !p.Present && !first && r.batchOf(seat) == nil
}

// isVacant says whether the process of a seat is over for these rules, too.
func (r *Rules) isVacant(seat int) bool {
	p := &r.procs[seat]
	speaks := func(b *batch) bool { // others may still say of it that it cannot keep a batch
		return b.has(seat) || b.root == seat || slices.Contains(b.parents, seat)
	}
	return p.Present && p.Declared && p.Heard && !slices.ContainsFunc(r.batches, speaks)
}

// mayBeVacant says whether there are so many seats that nobody living has.
func (r *Rules) mayBeVacant(n int) bool {
	free := r.cfg.Procs - len(r.procs)
	for i := range r.procs {
		if p := &r.procs[i]; r.isUnused(i) || p.Present && p.Declared && !(p.Silenced && r.cfg.Fence) {
			free++
		}
	}
	return n <= free
}

func (r *Rules) full(ev Wanted) string {
	if !r.mayBeVacant(ev.N) {
		return fmt.Sprintf("%d processes asked for, and of the %d that the job can have at a time %d are there: give it more with goulfm run --universe N", ev.N, r.cfg.Procs, len(r.procs))
	}
	return fmt.Sprintf("%d processes asked for, and no %d seats in a row are free of the %d that the job has: others still refer to the dead (%s): free communicators with them, or give it more with goulfm run --universe N", ev.N, ev.N, r.cfg.Procs, ev.Held)
}

// seat gives a batch the seats from first on.
func (r *Rules) seat(first int, ev Wanted) {
	start := Start{First: first, Count: ev.N}
	for seat := first; seat < first+ev.N; seat++ {
		if seat == len(r.procs) {
			r.procs = append(r.procs, Process{Seat: seat})
			continue
		}
		old := r.procs[seat]
		if r.isUnused(seat) {
			continue
		}
		r.past.add(old)
		r.procs[seat] = Process{Seat: seat, Generation: old.Generation + 1}
		start.Used = append(start.Used, seat)
	}
	r.batches = append(r.batches, &batch{first: first, count: ev.N, root: ev.Root, parents: slices.Clone(ev.Parents), token: ev.Token})
	r.do(start)
}

// answer tells who asked for a batch what became of it, once.
func (r *Rules) answer(b *batch, why string) {
	if !b.told {
		r.do(Answer{Root: b.root, Token: b.token, First: b.first, N: b.count, Why: why})
	}
	b.told = true
}

// startedOne notes that a process of a batch runs. The batch may be over already.
func (r *Rules) startedOne(b *batch, p *Process) {
	if b.over {
		p.Dropped = true
		r.kill(p)
	}
	r.forgetIfDone(b)
}

// abandon ends a batch of which one process could not be started. A process that was never
// started is as good as dead: nobody waits for it.
func (r *Rules) abandon(ev NotStarted) {
	b := r.batchOf(ev.Proc)
	if b == nil {
		return
	}
	b.missed = true
	r.answer(b, fmt.Sprintf("start process %d: %s", ev.Proc, ev.Why))
	r.drop(b)
}

// countInInit notes that a process of a batch is in Init.
func (r *Rules) countInInit(number int) {
	if b := r.batchOf(number); b != nil && !b.over {
		if b.joined++; b.joined == b.count {
			r.answer(b, "")
		}
	}
}

// lose notes that a process has ended and all that it said was heard. It may be one of a
// batch, or the last one that could keep a batch.
func (r *Rules) lose(number int) {
	if b := r.batchOf(number); b != nil && !b.told && !b.over {
		r.answer(b, fmt.Sprintf("process %d ended before it was in Init: is it a goulfm program?", number))
		r.drop(b)
	}
	for _, b := range slices.Clone(r.batches) {
		if !b.over && !slices.ContainsFunc(b.parents, r.mayKeep) {
			r.drop(b)
		}
	}
}

// mayKeep says whether a process may still say that it keeps a batch.
func (r *Rules) mayKeep(number int) bool {
	p := r.proc(number)
	return p != nil && !p.Heard && !(p.Silenced && r.cfg.Fence)
}

// drop ends a batch that nobody keeps.
func (r *Rules) drop(b *batch) {
	b.over = true
	for number := b.first; number < b.first+b.count; number++ {
		if p := r.proc(number); p.Present {
			p.Dropped = true
			r.kill(p)
		}
	}
	r.forgetIfDone(b)
}

// forgetIfDone forgets a batch that is over, once no process of it is to be started any more:
// those that are have to be ended then.
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

// keep passes on that those who started a batch agree.
func (r *Rules) keep(ev Kept) {
	b := r.batchOf(ev.First)
	if b == nil || b.over { // another one has said so
		return
	}
	r.do(PassKeep{b.first, b.count})
	r.forget(b)
}

// dropUnwanted ends what a failed Spawn leaves: the batch that its root names, or, where the
// root died and could not tell its number, those that nobody else can keep.
func (r *Rules) dropUnwanted(ev Unwanted) {
	root := r.proc(ev.Root)
	for _, b := range slices.Clone(r.batches) {
		named := ev.First > 0 && b.first == ev.First
		unnamed := ev.First == 0 && b.root == ev.Root && root != nil && root.Declared
		if named || unnamed {
			r.drop(b)
		}
	}
}
