package control

import (
	"testing"

	"github.com/goulfm/goulfm/ulfm"
)

// TestLeftWithoutMe: a process that was stopped, declared dead, and goes on when
// all others have finalized has nobody left who could tell it.
func TestLeftWithoutMe(t *testing.T) {
	c := New(Config{N: 3, Me: 1})
	acts := c.Step(Left{Proc: 0})
	if _, ok := acts[len(acts)-1].(Fenced); !ok {
		t.Errorf("actions %v, want the last to be Fenced", acts)
	}
	c = New(Config{N: 3, Me: 1})
	c.Step(Propose{Token: 1, Call: ulfm.Call{Kind: ulfm.KindFinalize}})
	decided := false
	for _, a := range c.Step(Left{Proc: 0}) {
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

// TestLeftOfTheDead: across a partition a process that was declared dead here may
// have finalized with others; that ends nothing here.
func TestLeftOfTheDead(t *testing.T) {
	c := New(Config{N: 3, Me: 1})
	c.Step(Exited{Proc: 0})
	c.Step(Propose{Token: 1, Call: ulfm.Call{Kind: ulfm.KindFinalize}})
	for _, a := range c.Step(Left{Proc: 0}) {
		t.Errorf("%#v", a)
	}
}
