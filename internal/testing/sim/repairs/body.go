package repairs

import (
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// body is the program of a worker in one attempt. It computes steps; the value of a step is a
// function of the one before and of the attempt, as of a program that does not compute the
// same twice: so versions that are mixed are seen.
type body struct {
	step   int
	value  uint64 // the same at all ranks
	local  uint64 // of this rank
	own    uint64 // how often this rank has saved
	served bool   // it keeps what others save
	sealed bool   // Protect has returned OK
	plan   repair.Plan
	copied bool // the version that was made last is complete here
	// reported are the homes of the ranks, compared how many boundaries the checker has seen.
	reported []int
	compared int
}

// protect is the beginning of the body.
func (w *driver) protect() {
	if w.att.canceled {
		w.returned(repair.Again)
		return
	}
	w.handle(repair.Protect{}, func() {
		if w.reply.Verdict != repair.OK {
			w.run.check.replied(w)
			w.returned(resultOf(w.reply.Verdict))
			return
		}
		w.settled = true
		w.takeRestored(func(ok bool) {
			if !ok {
				w.returned(repair.Again)
				return
			}
			w.run.check.sealed(w)
			w.beginKeeping()
			w.later(w.nextStep)
		})
	})
}

// resultOf is what the body returns after a call that has not gone well.
func resultOf(v repair.Verdict) repair.Result {
	switch v {
	case repair.OverAgain, repair.OverStop, repair.BadReplica:
		return repair.Again
	}
	return repair.Fatal
}

// nextStep does one step, or ends the body.
func (w *driver) nextStep() {
	s, a := &w.run.setup, w.att
	half := s.steps / 2
	switch {
	case a.canceled:
		w.returned(repair.Again)
	case a.step == s.steps:
		w.returned(repair.Finished)
	case s.fatal == w.number && a.step == half:
		w.returned(repair.Fatal)
	case s.rollback == w.number && a.step == half && !w.rolledBack:
		w.rolledBack = true
		w.returned(repair.Again)
	default:
		w.compute()
		w.agreeInProgram()
	}
}

// choice is one that all ranks make alike.
func (w *driver) choice(what, percent int) bool {
	t := world.TapeAt(world.Mix(w.run.check.idOf(w.att.base)<<32^uint64(w.att.step)) + uint64(what))
	return t.Percent(percent)
}

// agreeInProgram agrees on the program's communicator in some steps. The end of the attempt ends
// the wait, and nothing else does: a revocation does not.
func (w *driver) agreeInProgram() {
	a := w.att
	if !w.choice(1, w.run.setup.programs) {
		w.save()
		return
	}
	over := false
	goOn := func(ok bool) {
		if over || w.att != a {
			return
		}
		over, a.giveUp = true, nil
		if !ok || a.canceled {
			w.returned(repair.Again)
			return
		}
		w.save()
	}
	a.giveUp = func() { goOn(false) }
	w.call(a.prog, control.Propose{Call: commstate.Call{Kind: commstate.KindAgree}, Flag: 1}, func(out commstate.Outcome) {
		w.later(func() { goOn(out.Err == nil) })
	})
}

// save saves what is outside of versions in some steps, each rank when it likes.
func (w *driver) save() {
	if !w.run.tape.Percent(w.run.setup.saves) {
		w.commit()
		return
	}
	w.saveOwn(w.commit)
}

// commit ends a step.
func (w *driver) commit() {
	a := w.att
	if a.canceled {
		w.returned(repair.Again)
		return
	}
	if w.world.Skip() {
		w.later(w.nextStep)
		return
	}
	if w.desk.cannotPublish() {
		w.returned(repair.Fatal)
		return
	}
	s := &w.run.setup
	c := repair.Commit{Stop: s.stop == w.number-w.run.first && a.step >= s.steps/2, Want: s.want}
	if c.Want == 0 {
		c.Want = 1 + w.number%3
	}
	w.handle(c, func() {
		w.run.check.replied(w)
		w.desk.obey(w.reply, w.committed)
	})
}

// committed goes on where Commit has returned.
func (w *driver) committed() {
	switch v := w.reply.Verdict; {
	case w.gone:
	case w.differs, v == repair.OverStop && w.desk.cannotPublish():
		w.returned(repair.Fatal)
	case v != repair.OK:
		w.returned(resultOf(v))
	default:
		w.run.check.promised(w)
		w.later(w.nextStep)
	}
}
