package repairs

import (
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// body is the program of a worker in one attempt. The program computes steps. Without Verify the
// value of a step is a function of the previous value and of the attempt, as in a program that
// never computes the same result twice. The checker therefore detects mixed versions. With Verify
// the value is a function of the previous value alone.
type body struct {
	step   int
	value  uint64 // the same at all ranks
	local  uint64 // of this rank
	own    uint64 // number of saves of this rank
	served bool   // this rank keeps the savings of others
	sealed bool   // Protect has returned OK
	plan   repair.Plan
	copied bool // the version that was made last is complete here
	// reported holds the homes of the ranks, compared the number of boundaries that the checker has
	// seen.
	reported []int
	compared int
}

// protect begins the body.
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

// resultOf returns the result of the body after a call that failed.
func resultOf(v repair.Verdict) repair.Result {
	switch v {
	case repair.OverAgain, repair.OverStop, repair.BadReplica:
		return repair.Again
	}
	return repair.Fatal
}

// nextStep computes one step, or ends the body.
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

// choice is a choice that is the same at all ranks.
func (w *driver) choice(what, percent int) bool {
	t := world.TapeAt(world.Mix(w.run.check.idOf(w.att.base)<<32^uint64(w.att.step)) + uint64(what))
	return t.Percent(percent)
}

// agreeInProgram agrees on the program's communicator in some steps. Only the decision and the end
// of the attempt end the wait: a revocation does not.
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

// save saves data outside of versions in some steps. Each rank draws its own steps.
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

// committed continues after Commit has returned.
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
