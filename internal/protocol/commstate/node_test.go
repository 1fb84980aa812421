package commstate

import (
	"errors"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/ulfm"
)

// nodeGroup returns the members of a communicator that agree in memory.
func nodeGroup(n int) []*Comm {
	heap := onenode.NewHeap(1, nil)
	procs := rankset.Range(0, n).Slice()
	var members []*Comm
	for me := range n {
		of := onenode.Sharing{Procs: procs, Indices: make([]uint32, n), Me: me}
		m := Memory{Repair: heap.Open(of)}
		of.Part = 1
		m.Create = heap.Open(of)
		members = append(members, New(Config{Group: Group{Procs: procs, Indices: of.Indices, Me: me}, Memory: m}))
	}
	return members
}

func only[A Action](t *testing.T, acts []Action) A {
	t.Helper()
	if len(acts) != 1 {
		t.Fatalf("got %+v, want one", acts)
	}
	a, ok := acts[0].(A)
	if !ok {
		t.Fatalf("got %+v", acts[0])
	}
	return a
}

// TestNodeDecides: the calls of both series in memory decide in their own Step or by a
// Look, and no message is sent; closing uses messages.
func TestNodeDecides(t *testing.T) {
	for _, kind := range []Kind{KindAgree, KindAgreeFailed, KindShrink, KindDup, KindSplit} {
		m := nodeGroup(2)
		ev := Propose{Token: 3, Call: Call{Kind: kind}, Flag: 6, Index: 1 << 31, Color: -1 << 62, Key: 1 << 62}
		if acts := m[0].Step(ev); len(acts) != 0 || !m[0].Looking() || !slices.Equal(m[0].WaitsFor(3), []int{1}) {
			t.Errorf("%v: %+v, waits for %v", kind, acts, m[0].WaitsFor(3))
		}
		ev.Flag = 3
		last := only[Decide](t, m[1].Step(ev))
		first := only[Decide](t, m[0].Step(Look{}))
		if !first.Value.Equal(last.Value) || first.Value.Flag != 2 || first.Proposal.Seq != 1 || len(m[0].Open()) != 0 {
			t.Errorf("%v: %+v and %+v", kind, first, last)
		}
		if out := m[0].Group().Outcome(first.Proposal, first.Value); out.Err != nil {
			t.Errorf("%v: %v", kind, out)
		}
		if acts := m[0].Step(Look{}); len(acts) != 0 || m[0].Looking() {
			t.Errorf("%v: %+v after the decision", kind, acts)
		}
	}
	m := nodeGroup(2)
	only[Send](t, m[1].Step(Propose{Call: Call{Kind: KindClose}}))
}

// TestNodeTakesEveryCreation: the contributions of members fit into memory, however large
// their numbers are, and different arguments fail the call at both members.
func TestNodeTakesEveryCreation(t *testing.T) {
	for _, kind := range []Kind{KindCreate, KindSplitNode, KindCart, KindGraph, KindDistGraph, KindCreateGroup} {
		for digest := range uint64(2) {
			m := nodeGroup(2)
			ev := Propose{Call: Call{Kind: kind}, Index: 1<<32 - 1, Color: Undefined, Key: 1 << 31, Digest: digest << 63}
			m[0].Step(ev)
			ev.Digest = 0
			last := only[Decide](t, m[1].Step(ev))
			first := only[Decide](t, m[0].Step(Look{}))
			wrong := digest != 0 && kind.digested()
			for me, d := range []Decide{first, last} {
				if out := m[me].Group().Outcome(d.Proposal, d.Value); errors.Is(out.Err, ErrMismatch) != wrong || out.New != nil {
					t.Errorf("%v: %v", kind, out)
				}
			}
		}
	}
}

// TestNodeHearsNoMessages: agreements in memory send no messages, so any message is reported.
func TestNodeHearsNoMessages(t *testing.T) {
	m := nodeGroup(2)
	for _, part := range []Part{Part(SeriesRepair), Part(SeriesCreate)} {
		if a := only[Anomaly](t, m[0].Step(Receive{From: 1, Part: part, Seq: 1, Msg: []byte{3}})); a.From != 1 {
			t.Errorf("%+v", a)
		}
	}
}

// TestNodeDeaths: a death and a departure let the other member decide.
func TestNodeDeaths(t *testing.T) {
	m := nodeGroup(3)
	m[0].Step(Propose{Call: Call{Kind: KindAgree}})
	m[0].Step(Died{Rank: 1})
	d := only[Decide](t, m[0].Step(Left{Rank: 2}))
	if out := m[0].Group().Outcome(d.Proposal, d.Value); !errors.Is(out.Err, ulfm.ErrProcFailed) || !slices.Equal(out.Dead, []int{1}) {
		t.Errorf("%v", out)
	}
}

// TestNodePlain: the plain path has the number and the outcome of the general one, and
// continues as the general one.
func TestNodePlain(t *testing.T) {
	m := nodeGroup(2)
	agree := Call{Kind: KindAgree}
	if !m[0].Plain() || m[0].EnterPlain(agree, 6) != 1 || m[0].Plain() {
		t.Fatal("not entered")
	}
	if _, state := m[0].PollPlain(); state != onenode.Waiting {
		t.Errorf("state %v", state)
	}
	if acts := m[0].Step(Propose{Token: 9, Call: agree, Entered: true}); len(acts) != 0 {
		t.Errorf("%+v", acts)
	}
	other := only[Decide](t, m[1].Step(Propose{Call: agree, Flag: 3}))
	d := only[Decide](t, m[0].Step(Look{}))
	if d.Proposal.Token != 9 || d.Proposal.Seq != 1 || !d.Value.Equal(other.Value) || d.Value.Flag != 2 {
		t.Errorf("%+v, %+v", d, other)
	}
	m[0].Step(Propose{Call: Call{Kind: KindClose}})
	if m[0].Plain() {
		t.Error("plain while closing")
	}
	if byMessages := New(Config{Group: *m[0].Group()}); byMessages.Plain() {
		t.Error("plain without memory")
	}
}

// TestPlainKinds: a shrink contributes an index, so it cannot be plain.
func TestPlainKinds(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a shrink was entered plainly")
		}
	}()
	nodeGroup(2)[0].EnterPlain(Call{Kind: KindShrink}, 1)
}
