package commstate

import (
	"fmt"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/ulfm"
)

// Outcome turns the decided value of an agreement into the result of the call
// of one member of g. The result is a function of g and of the value that all members
// decided, so it is uniform: the flag, the dead and the class of the error are the same
// at all. The deaths in v must be declared here before the program gets the result
// (R31), and g.Me must not be among them.
func (g *Group) Outcome(p Proposal, v era.Value) Outcome {
	out := Outcome{Seq: p.Seq, Call: p.Call, Flag: v.Flag, Dead: v.Dead.Slice()}
	if p.Series == SeriesClose { // no death and no mismatch is an error (R58, R62)
		return out
	}
	if v.Mismatch() {
		out.Err = Mismatch(p.Call, v, func(rank int) int { return rank })
		return out
	}
	switch {
	case p.Call.Kind.Ends():
	case p.Call.Kind == KindAgree:
		out.Err = agreed(p.Call, v)
	case p.Call.Kind == KindDisconnect && !v.Dead.IsEmpty():
		out.Err = failed(p.Call, v.Dead)
	case p.Call.Kind == KindShrink:
		out.New, out.Err = g.shrunk(p, v)
	case p.Call.Kind == KindReplace:
		out.New, out.Err = g.replaced(p, v)
	case p.Series == SeriesCreate:
		out.New, out.Err = g.created(p, v)
	}
	return out
}

// agreed returns the error of an agree: a death was agreed that some contributor
// had not acknowledged at its entry (R28, R29, A5).
func agreed(call Call, v era.Value) error {
	if !v.Failed() {
		return nil
	}
	news := v.Dead.Clone()
	news.Subtract(v.Acked)
	return failed(call, news)
}

func failed(call Call, ranks rankset.Set) error {
	return &ulfm.Error{Op: call.Kind.String(), Ranks: ranks.Slice(), Err: ulfm.ErrProcFailed}
}

// Mismatch names two members that made different calls, the same two at all members. The
// function outer translates a rank for the text of the error.
func Mismatch(call Call, v era.Value, outer func(rank int) int) error {
	lo, hi := outer(v.Lo.Rank), outer(v.Hi.Rank)
	err := fmt.Errorf("%w: rank %d called %v, rank %d called %v", ErrMismatch, lo, callOf(v.Lo.Call), hi, callOf(v.Hi.Call))
	return &ulfm.Error{Op: call.Kind.String(), Ranks: []int{lo, hi}, Err: err}
}
