package repairs

import (
	"errors"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/ulfm"
)

// agree ends a boundary.
func (w *driver) agree(word uint64) {
	w.busy = "boundary"
	w.call(w.att.base, control.Propose{Call: commstate.Call{Kind: commstate.KindAgreeFailed}, Flag: word}, func(out commstate.Outcome) {
		if out.Err != nil {
			w.run.fail("V7", "process %d in a boundary: %v", w.number, out.Err)
			return
		}
		dead := rankset.Of(out.Dead...)
		w.att.number++
		w.run.check.boundary(w, out.Flag, dead)
		w.later(func() { w.answer(repair.Decided{Word: out.Flag, Dead: dead}) })
	})
}

func (w *driver) shrink() {
	w.busy = "shrink"
	from := w.base
	w.call(from, control.Propose{Call: commstate.Call{Kind: commstate.KindShrink}}, func(out commstate.Outcome) {
		if isOfTheDead(out) {
			w.run.report.Again++
			w.later(w.shrink)
			return
		}
		if out.New == nil {
			w.run.fail("V7", "process %d in a shrink: %v", w.number, out.Err)
			return
		}
		dead := w.rules.Dead()
		var left rankset.Set
		made := w.adopt(*out.New)
		for rank, p := range from.group.Procs {
			switch {
			case rankset.Of(out.New.Procs...).Has(p):
				left.Add(rank)
			case !dead.Has(p):
				w.orphaned()
				return
			default: // processes that this dead member had started are not kept here
				w.note(func(l *launcher) { l.step(job.Unwanted{Root: from.members[rank].name(), By: w.name()}) })
			}
		}
		w.old = append(w.old, from)
		w.base = made
		w.later(func() { w.answer(repair.Shrunk{Left: left}) })
	})
}

// isOfTheDead reports whether a call failed because a member that is dead by now made a different
// call. That member had a different outcome of an earlier call.
func isOfTheDead(out commstate.Outcome) bool {
	e, named := errors.AsType[*ulfm.Error](out.Err)
	return named && errors.Is(e, commstate.ErrMismatch) && slices.ContainsFunc(e.Ranks, rankset.Of(out.Dead...).Has)
}

// orphaned ends a replacement from an outcome that only dead members had. The others continue
// without it.
func (w *driver) orphaned() {
	w.run.report.Orphans++
	w.run.check.orphan(w)
	w.die()
}

// replace requests replacements at the root. All members then agree on them.
func (w *driver) replace(a repair.Replace) {
	w.busy = "replace"
	if w.base.group.Me != 0 {
		w.agreeOnReplacements(a, commstate.Spawned{}, false)
		return
	}
	w.ask = &asking{what: a, on: w.base, until: w.run.now.Add(a.Wait)}
	w.askLauncher()
}

func (w *driver) askLauncher() {
	w.token++
	w.ask.token = uint64(w.number)<<32 | w.token
	ev := job.Wanted{Root: w.name(), Token: w.ask.token, N: len(w.ask.what.Ranks), Parents: w.ask.on.names()}
	w.say(func(l *launcher) { l.want(ev) })
}

// granted handles the answer of the launcher.
func (w *driver) granted(a job.Answer) {
	ask := w.ask
	if ask == nil || ask.token != a.Token {
		return
	}
	switch {
	case a.Short && w.run.now < ask.until:
		w.askLauncher()
		return
	case a.Short:
		w.agreeOnReplacements(ask.what, commstate.Spawned{}, false)
	case a.Why != "":
		w.agreeOnReplacements(ask.what, commstate.Spawned{}, true)
	default:
		w.given = a.First
		w.agreeOnReplacements(ask.what, commstate.Spawned{First: job.SlotOf(a.First), Count: a.N}, false)
	}
	w.ask = nil
}

// agreeOnReplacements makes the communicator with the replacements, and reports to the launcher
// whether they are kept.
func (w *driver) agreeOnReplacements(a repair.Replace, started commstate.Spawned, bad bool) {
	from := w.base
	in := control.Propose{Call: commstate.Call{Kind: commstate.KindReplace}, Spawned: started, Ranks: a.Ranks, Digest: commstate.Digest(a.Ranks...), Veto: bad}
	w.call(from, in, func(out commstate.Outcome) {
		if out.New == nil {
			w.unfilled(from, out.Err, started)
			return
		}
		made := w.adopt(*out.New)
		w.recall(from, made)
		w.keepReplacements(invitation{made.members[a.Ranks[0]].name(), *out.New, a.Handover})
		w.old = append(w.old, from)
		w.base = made
		w.later(func() { w.answer(repair.Filled{}) })
	})
}

func (w *driver) keepReplacements(what invitation) {
	w.say(func(l *launcher) {
		l.keep = what
		l.step(job.Kept{First: what.first, By: w.name(), Ranked: true})
	})
}

func (w *driver) unfilled(from *line, err error, started commstate.Spawned) {
	root, given := from.members[0].name(), w.given
	switch {
	case started.Count > 0:
		w.say(func(l *launcher) { l.step(job.Unwanted{First: given, N: started.Count, By: w.name()}) })
	case from.group.Me != 0:
		w.say(func(l *launcher) { l.step(job.Unwanted{Root: root, By: w.name()}) })
	}
	switch {
	case errors.Is(err, commstate.ErrScarce):
		w.later(func() { w.answer(repair.Scarce{}) })
	case errors.Is(err, ulfm.ErrProcFailed), errors.Is(err, commstate.ErrPeerArgument):
		w.later(func() { w.answer(repair.Unfilled{}) })
	default:
		w.run.fail("V7", "process %d in a replacement: %v", w.number, err)
	}
}

// exchange gives each member of a communicator the values of all members, or nil if the exchange
// failed here.
func (w *driver) exchange(l *line, what string, mine any, then func(all []any)) {
	l.ops++
	op, n := l.ops, len(l.members)
	root := op % n
	if l.group.Me != root {
		if !w.send(l, root, messageKey{what: what, op: op}, mine) {
			w.later(func() { then(nil) })
			return
		}
		w.await(l, messageKey{what: what, op: op, step: 1, from: root}, func(all any, ok bool) {
			if !ok {
				then(nil)
				return
			}
			then(all.([]any))
		})
		return
	}
	all := make([]any, n)
	all[root] = mine
	var take func(rank int)
	take = func(rank int) {
		switch rank {
		case root:
			take(rank + 1)
		case n:
			for to := range n {
				if to != root && !w.send(l, to, messageKey{what: what, op: op, step: 1}, all) {
					then(nil)
					return
				}
			}
			then(all)
		default:
			w.await(l, messageKey{what: what, op: op, from: rank}, func(got any, ok bool) {
				if !ok {
					then(nil)
					return
				}
				all[rank] = got
				take(rank + 1)
			})
		}
	}
	w.later(func() { take(0) })
}
