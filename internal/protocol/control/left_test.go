package control

import (
	"errors"
	"testing"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// TestLeftWithoutMe: a process that was stopped, declared dead, and continues when all others have
// finalized is fenced by their departure: no process is left to notify it. A process that has
// proposed to finalize ends instead.
func TestLeftWithoutMe(t *testing.T) {
	c := New(Config{N: 3, Me: 1})
	acts := c.Step(Left{Proc: 0})
	if _, ok := acts[len(acts)-1].(Fenced); !ok {
		t.Errorf("actions %v, want the last to be Fenced", acts)
	}
	all := newCluster(t, 3)
	for p := range 3 {
		all.propose(p, Propose{Call: commstate.Call{Kind: commstate.KindFinalize}})
	}
	all.runUntilClosing()
	decided := false
	for _, a := range all.procs[1].Step(Left{Proc: 0}) {
		switch a.(type) {
		case Fenced:
			t.Error("fenced although it had proposed finalize")
		case Decided:
			decided = true
		}
	}
	if !decided {
		t.Error("finalize goes on after somebody has left")
	}
}

// TestLeftOfTheDead: across a partition a process that was declared dead here may have finalized
// with others; its departure ends nothing here.
func TestLeftOfTheDead(t *testing.T) {
	c := New(Config{N: 3, Me: 1})
	c.Step(Exited{Proc: 0})
	c.Step(Propose{Token: 1, Call: commstate.Call{Kind: commstate.KindFinalize}})
	for _, a := range c.Step(Left{Proc: 0}) {
		t.Errorf("%#v", a)
	}
}

// TestSpecC10FinalizeMeetsOtherCalls: one process is in Finalize, the others in another call. All
// calls end with ErrMismatch; then all finalize.
func TestSpecC10FinalizeMeetsOtherCalls(t *testing.T) {
	for _, kind := range []commstate.Kind{commstate.KindAgree, commstate.KindAgreeFailed, commstate.KindShrink, commstate.KindDup} {
		for one := range 4 {
			c := newCluster(t, 4)
			for p := range 4 {
				ev := call(kind)
				if p == one {
					ev = call(commstate.KindFinalize)
				}
				c.propose(p, ev)
			}
			c.run()
			for p := range 4 {
				if d, ok := c.got[p][uint64(p+1)]; !ok || !errors.Is(d.Outcome.Err, commstate.ErrMismatch) {
					t.Errorf("%v, %d in finalize: %d has %v, %v", kind, one, p, d.Outcome.Err, ok)
				}
			}
			for p, d := range c.all(world, call(commstate.KindFinalize)) {
				if d.Outcome.Err != nil {
					t.Errorf("process %d: finalize: %v", p, d.Outcome.Err)
				}
			}
		}
	}
}
