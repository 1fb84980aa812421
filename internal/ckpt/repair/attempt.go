package repair

import "github.com/goulfm/goulfm/internal/base/rankset"

// gathered continues Protect: all members that have the reports make the same plan. A member
// without the reports leaves, and the others learn of that at the boundary. If the plan has an
// error (Different, NoneWhole), all members that have the reports leave.
func (w *World) gathered(reports []Report) {
	if reports == nil {
		w.giveUp(OverAgain)
		return
	}
	w.plan = w.cfg.choose(reports)
	w.layout = w.plan.Layout
	w.epoch = w.plan.Epoch
	switch w.plan.Source {
	case Different:
		w.giveUp(BadMembers)
	case NoneWhole:
		w.giveUp(BadLost)
	default:
		w.state = Restoring
		w.do(Restore{w.plan})
	}
}

// commit counts the point. It makes a version only if a boundary is due, or with Now. The members
// agreed at the last boundary on the points that are due: with intervals of their own, two members
// would wait for each other at different points.
func (w *World) commit(ev Commit) {
	if w.over {
		w.back(OverAgain)
		return
	}
	w.points++
	if !ev.Now && w.points < w.interval && !w.hurries() {
		w.back(OK)
		return
	}
	w.points = 0
	if !w.pending {
		w.label = Label{Epoch: w.epoch, Number: w.hist.last.Number + 1}
	}
	w.state = Copying
	w.request = ev
	w.do(Copy{Label: w.label, Check: w.pending, All: w.lastOne})
}

// copied contributes to the boundary of a Commit.
func (w *World) copied(ev Copied) {
	w.agree(Ballot{
		Call: CallCommit, Incomplete: !ev.Complete, Stop: w.request.Stop, Offer: ev.Offer, Files: ev.Files,
		Same: ev.Same, Digest: salted(ev.Digest, w.label), Want: w.request.Want,
	})
}

// salted mixes a digest with a label. The word holds ten bits of a digest, so one difference in a
// thousand is not seen. With the label mixed in, it is seen at the next version: the
// multiplications make each version miss another thousandth of the differences.
func salted(digest uint64, l Label) uint64 {
	x := digest + l.Epoch*0xD1B54A32D192ED03 + l.Number*0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	return (x ^ x>>27) * 0x94D049BB133111EB
}

// agree contributes to a boundary. All boundaries are agreements of one series on the
// attempt's communicator, whichever call they end:
//
//	A  Commit: agreement 3          waits for B's agreement 3
//	B  has an error: agreement 3    not a shrink, which A would never join
func (w *World) agree(b Ballot) {
	w.state, w.call = Deciding, b.Call
	w.do(Agree{b.Word()})
}

// boundary continues after a boundary is decided: the same at all living members.
func (w *World) boundary(t Tally, dead rankset.Set) {
	switch {
	case w.call == CallLeave || w.call == CallFinish:
		w.depart(t, dead)
	case t.Mismatch:
		w.leave(t, dead, BadPlace)
	case w.call == CallSeal:
		w.sealed(t, dead)
	default:
		w.committed(t, dead)
	}
}

// sealed ends Protect. Until then nothing was deleted, so a second loss finds all the data that the
// first one found.
//
// A version is restored if it is whole, also if its Commit was never agreed. In that case the
// replicated data were never compared:
//
//	A, B  make version 3, and B's replica differs
//	B     dies before it contributes: the boundary has A's digest alone
//	A, C  have both parts from memory, continue from them, and differ at each Commit
//
// So they are compared here, too. A version that differs is not restored again: the version before
// is restored.
func (w *World) sealed(t Tally, dead rankset.Set) {
	if t.Replica {
		w.do(Drop{w.plan.Label})
	}
	if !t.AllStay || !t.Complete || t.Replica || !dead.IsEmpty() {
		w.leave(t, dead, OverAgain)
		return
	}
	w.hist.progress(w.plan.Label)
	w.hist.sealed, w.hist.epoch, w.hist.fresh = true, w.plan.Epoch, nil
	w.role = Survivor
	w.hist.saves(w.plan.Saved)
	if w.plan.Source == FromMemory {
		w.do(Settle{w.plan.Label})
	}
	w.back(OK)
}

// committed ends a Commit.
//
// With deaths nothing is committed, and no older version is deleted. The agreement does not show
// whether the dead had stored their parts, nor whether their replicas were equal to the others. No
// Commit returns OK, so no program relies on the version. The next Protect restores this version if
// it is whole and its replicas are equal.
func (w *World) committed(t Tally, dead rankset.Set) {
	good := t.AllStay && t.Complete && !t.Replica && dead.IsEmpty()
	w.pending = t.AllStay && !t.Complete && !t.Replica
	if good {
		w.keep()
	}
	over := !t.AllStay || !dead.IsEmpty()
	order := FilesAsBefore
	if !over {
		order = w.orderFiles(t.Files, good)
	}
	if t.Replica && t.AllStay {
		w.do(Drop{w.label})
	}
	switch {
	case over:
		w.leave(t, dead, OverAgain)
	case t.Replica:
		w.back(BadReplica)
	case order == FilesAbandon && w.cfg.Must:
		w.over = true
		w.reply(Return{Verdict: BadFiles, Label: w.hist.last, Files: order})
	case w.lastOne && good:
		w.stopped = true
		w.reply(Return{Verdict: OverStop, Label: w.hist.last, Files: order})
	case t.Offer && len(w.hist.homes) < w.hist.target:
		w.leave(t, dead, OverAgain)
	default:
		if w.cfg.Every == 0 {
			w.interval = t.Interval
		}
		w.lastOne = w.lastOne || t.Stop
		w.reply(Return{Verdict: OK, Label: w.hist.last, Files: order})
	}
}

// orderFiles returns the order about files after a boundary after which all members continue. The
// files of the last version before a stop are written before the boundary, whichever version was
// open. If the boundary has committed nothing, they belong to a version that does not exist, and
// are written again before the next boundary.
func (w *World) orderFiles(said Files, good bool) FilesOrder {
	open := w.filesOpen
	switch {
	case said == FilesDone && w.lastOne && !good:
		return FilesAsBefore
	case said == FilesDone && w.lastOne:
		w.filesOpen = w.cfg.Files
		return FilesPublish
	case said == FilesDone && open:
		w.filesOpen = false
		return FilesPublish
	case said == FilesFailed:
		w.filesOpen = false
		return FilesAbandon
	case !open && good && said == FilesWanted:
		w.filesOpen = true
		return FilesBegin
	}
	return FilesAsBefore
}

// keep records a committed version: only now may older versions be deleted.
func (w *World) keep() {
	oldest := w.label
	if w.cfg.Verify {
		oldest = w.hist.last
	}
	w.hist.progress(w.label)
	w.do(Keep{oldest})
}

// leave ends the attempt by a boundary that was decided in a call of the program. The
// call returns v, and the body must return, too.
func (w *World) leave(t Tally, dead rankset.Set, v Verdict) {
	w.decided, w.tally, w.dead = true, t, dead
	w.giveUp(v)
}

// giveUp ends a call of the program, and with it the attempt: the body must return.
func (w *World) giveUp(v Verdict) {
	w.over = true
	w.cancel()
	w.back(v)
}

// back ends the program's call.
func (w *World) back(v Verdict) { w.reply(Return{Verdict: v, Label: w.hist.last}) }

func (w *World) reply(r Return) {
	w.state = Computing
	w.do(r)
}

// broken ends the context of an attempt that cannot succeed any more.
func (w *World) broken() {
	if w.state >= Computing && w.state <= Deciding {
		w.cancel()
	}
}

func (w *World) cancel() {
	if !w.canceled {
		w.canceled = true
		w.do(Cancel{})
	}
}
