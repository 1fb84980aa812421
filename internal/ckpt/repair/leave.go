package repair

import "github.com/goulfm/goulfm/internal/base/rankset"

// returned begins to leave an attempt: the body has returned, and its goroutines may still run.
//
// Other members may be in a call in which this member will not take part any more. A revocation
// ends that call. If this member has finished, there is no revocation, and the others continue.
func (w *World) returned(r Result) {
	w.state, w.result = Leaving, r
	if r != Finished {
		w.revoke()
	}
	w.cancel()
}

// quiet contributes to the boundary, unless the boundary was decided in a call of the program. In
// that case an error of the body follows from the answer of that call; any other error occurs again
// in the next attempt.
func (w *World) quiet(ev Quiet) {
	w.result = max(w.result, ev.Result)
	if w.result == Fatal && !w.decided {
		w.text = ev.Text
	}
	if w.result == Finished && w.over && !w.stopped {
		w.result = Again // a body that swallows an error has not finished
	}
	if w.result != Finished {
		w.revoke()
	}
	switch {
	case w.decided:
		w.depart(w.tally, w.dead)
	case w.result == Finished && !w.stopped:
		w.agree(Ballot{Call: CallFinish})
	default:
		w.agree(Ballot{Call: CallLeave, Fatal: w.result == Fatal, Stop: w.stopped})
	}
}

func (w *World) revoke() {
	if !w.revoked {
		w.revoked = true
		w.do(Revoke{})
	}
}

// depart continues after the boundary that ends the attempt is decided. No member ends before all
// have finished: if another member dies, its work is done again, and that requires all ranks.
// After a last version that must be in files, no member ends if the rank that publishes it has
// died: the version might not be published.
func (w *World) depart(t Tally, dead rankset.Set) {
	switch {
	case t.Mismatch:
		w.end(Outcome{End: Misplaced})
		return
	case t.Finished && dead.IsEmpty():
		w.end(Outcome{End: Done})
		return
	case t.Stop && !t.SomeStay && !t.Fatal && !(w.filesOpen && dead.Has(0)):
		w.end(Outcome{End: Stopped})
		return
	}
	w.fatal = t.Fatal
	w.hist.repairs++
	w.state = Shrinking
	w.do(Shrink{})
}

// shrunk records the survivors. left are ranks of the communicator that was shrunk: at first the
// attempt's, after a failed replacement the last shrunk one.
func (w *World) shrunk(left rankset.Set) {
	now := nth(w.left, left)
	gone := w.left.Clone()
	gone.Subtract(now)
	for r := range gone.All() {
		w.hist.lost[r]++
	}
	w.left = now
	switch {
	case w.fatal:
		w.state = Telling
		w.do(Tell{w.text})
	case w.stuck():
		w.end(Outcome{End: NoProgress})
	case w.left.Len() == w.hist.target:
		w.goOn()
	case w.fills >= FillsMax:
		w.short()
	default:
		w.fill(w.missing())
	}
}

// nth returns the members of s at the given places.
func nth(s, places rankset.Set) rankset.Set {
	var out rankset.Set
	i := 0
	for r := range s.All() {
		if places.Has(i) {
			out.Add(r)
		}
		i++
	}
	return out
}

// stuck reports whether to stop a crash loop. The counts are the same at all members, so all stop
// or none. Many failures with progress between them are no crash loop: progress resets the counts.
func (w *World) stuck() bool {
	if w.hist.repairs > RepairsMax {
		return true
	}
	for _, n := range w.hist.lost {
		if n >= w.cfg.Tries {
			return true
		}
	}
	return false
}

// missing returns the ranks without a process.
func (w *World) missing() []int {
	all := rankset.Range(0, w.hist.target)
	all.Subtract(w.left)
	return all.Slice()
}

// fill requests replacements for the given ranks. Other lost ranks are removed, and the ranks
// above them close up.
func (w *World) fill(ranks []int) {
	kept := w.left.Clone()
	kept.Union(rankset.Of(ranks...))
	next := w.hist.clone()
	next.grow(w.hist.target)
	next.close(kept.Slice())
	next.attempt++
	var filled rankset.Set // as ranks of the next attempt
	for i, r := range kept.Slice() {
		if !w.left.Has(r) {
			filled.Add(i)
		}
	}
	fresh := rankset.Of(next.fresh...)
	fresh.Union(filled)
	next.fresh, next.filled = fresh.Slice(), filled.Slice()
	w.next = next
	w.state = Filling
	wait := w.cfg.Wait
	if w.cfg.Shortage != ShortageWait {
		wait = 0
	}
	w.asked = ranks
	w.do(Replace{Ranks: next.filled, Size: kept.Len(), Handover: next.append(nil), Wait: wait})
}

// filled begins the next attempt, with the replacements.
func (w *World) filled() {
	kept := w.left.Clone()
	kept.Union(rankset.Of(w.asked...))
	w.rank = place(kept, w.rank)
	w.hist = w.next
	w.run()
}

// place returns the number of members of s below r.
func place(s rankset.Set, r int) int {
	n := 0
	for m := range s.All() {
		if m < r {
			n++
		}
	}
	return n
}

// unfilled shrinks to the survivors; afterwards shrunk tries again or gives up.
func (w *World) unfilled() {
	w.fills++
	w.state = Shrinking
	w.do(Shrink{})
}

// scarce continues if fewer processes are available than are missing: with these processes if the
// policy is ShortageShrink and there are any, otherwise by short.
func (w *World) scarce(granted int) {
	if w.cfg.Shortage == ShortageShrink && granted > 0 {
		w.fill(w.asked[:min(granted, len(w.asked)-1)])
		return
	}
	w.short()
}

// short applies the policy for too few processes.
func (w *World) short() {
	if w.cfg.Shortage == ShortageShrink {
		w.goOn()
		return
	}
	w.end(Outcome{End: TooFew})
}

// goOn begins the next attempt on the newest communicator, without replacements: no rank is
// missing, or the remaining ranks close up.
func (w *World) goOn() {
	w.rank = place(w.left, w.rank)
	w.hist.close(w.left.Slice())
	w.hist.filled = nil
	w.hist.attempt++
	w.run()
}
