package era

import (
	"slices"

	"github.com/goulfm/goulfm/internal/must"
	"github.com/goulfm/goulfm/internal/rankset"
)

// Flaw is one repair left out on purpose, so that tests and the simulator can
// show that it is needed and that they would notice. Production uses NoFlaw, and
// is built without the tag "sabotage": then a Flaw does nothing.
type Flaw uint8

// The flaws. Each constant is named after the repair that it leaves out. "Splits"
// means that members decide differently, "stalls" that some never decide.
const (
	// NoFlaw is the full set of rules.
	NoFlaw Flaw = iota
	// FlawA1: a RESULTREQUEST from q proves that every r < q is dead, and is
	// answered by an UP to q, who need not be the parent. Splits.
	FlawA1
	// FlawA5b: only dead members that did not contribute count as an error.
	// Success with different acknowledged sets.
	FlawA5b
	// FlawA6: DOWN is taken from anybody, closed members included, as in Open MPI.
	// Splits.
	FlawA6
	// FlawA8: a new root forgets who had contributed. Stalls.
	FlawA8
	// FlawA9: a root asks when it becomes root, and not again when a later death
	// gives it new children. Stalls.
	FlawA9
	// FlawA10: a waiting member does not write down who requested the result.
	// Stalls.
	FlawA10
	// FlawA12: the tree for agreement k leaves out the dead agreed before k,
	// instead of those agreed up to k-Window. Members that decide in different
	// orders build different trees. Stalls.
	FlawA12
	// FlawPaper: ERA Parts 1-4 as printed, see paper.go. Splits and stalls.
	FlawPaper
	// FlawA3: a message for an agreement that is not entered here is dropped.
	// Stalls.
	FlawA3
	// FlawA4: a waiting member does nothing with an UP, as printed. Stalls.
	FlawA4
	// FlawA5: no acknowledged set and an empty one are the same thing, as in Open
	// MPI: one that comes later overwrites an empty one. Success with different
	// acknowledged sets.
	FlawA5
	// FlawA6Print: DOWN is taken from the parent alone, as printed, hence by no
	// root: not even the answer to its own RESULTREQUEST. Stalls.
	FlawA6Print
	// FlawA10Never: a RESULTREQUEST is never written down, and makes the member
	// send its UP to its own parent again, as in Open MPI. Stalls.
	FlawA10Never
	// FlawA11: the parent of position p is p/2 although positions count from 0, as
	// printed for heaps that count from 1. Stalls.
	FlawA11
	// FlawA13: an UP does not say who is dead; the root adds whom it knows itself.
	// A death that a contributor had reported goes missing.
	FlawA13
	// FlawA14: a decision is forgotten as soon as all before it are decided here.
	// Who asks for it later is not answered. Stalls.
	FlawA14
	// FlawA14MadeUp: the same, and who asks later is told a success that nobody
	// decided, as in Open MPI. Splits.
	FlawA14MadeUp
	// FlawA19: who becomes root, or loses the last child that it waits for, does
	// not look whether it can decide now. Stalls.
	FlawA19
	// FlawTell: a decision goes to children and requesters, not to all who have
	// contributed (rule 6). Stalls.
	FlawTell
	// FlawCanary: nobody waits for its children. Any check must notice.
	FlawCanary

	flawCount
)

// String returns "none", "A1", ..., "canary".
func (f Flaw) String() string {
	names := [flawCount]string{
		NoFlaw: "none", FlawA1: "A1", FlawA5b: "A5b", FlawA6: "A6", FlawA8: "A8", FlawA9: "A9", FlawA10: "A10",
		FlawA12: "A12", FlawPaper: "paper", FlawA3: "A3", FlawA4: "A4", FlawA5: "A5", FlawA6Print: "A6-print",
		FlawA10Never: "A10-never", FlawA11: "A11", FlawA13: "A13", FlawA14: "A14", FlawA14MadeUp: "A14-madeup",
		FlawA19: "A19", FlawTell: "tell", FlawCanary: "canary",
	}
	if f < flawCount {
		return names[f]
	}
	return "unknown"
}

// is says whether one of these rules is left out: never in production.
func (f Flaw) is(these ...Flaw) bool {
	return must.Sabotage && slices.Contains(these, f)
}

// hearsTheDead says whether frames of closed members are let through.
func (f Flaw) hearsTheDead() bool { return f.is(FlawA6, FlawPaper) }

// merge puts a contribution in. With FlawA5 an empty acknowledged set counts as
// none that was stored yet.
func (a *agreement) merge(w Value) {
	unset := a.flaw.is(FlawA5) && !w.From.IsEmpty() && a.value.Acked.IsEmpty()
	a.value.Merge(w)
	if unset {
		a.value.Acked = w.Acked.Clone()
	}
}

// makeUp answers, with FlawA14MadeUp, a question for a forgotten decision.
func (s *Series) makeUp(to int, seq uint64) {
	claim := Claim{Rank: to}
	v := Value{From: rankset.Of(to), Lo: claim, Hi: claim, Flag: ^uint64(0), Returned: 1}
	s.out = append(s.out, Send{To: to, Seq: seq, Msg: AppendMessage(nil, Down{v})})
}

// heapParent is the parent in a heap that counts from 1, which FlawA11 takes for
// one that counts from 0. Children are found by binaryParent's rule as before.
func heapParent(pos int) int {
	if pos == 0 {
		return -1
	}
	return pos / 2
}
