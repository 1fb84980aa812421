package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/flood"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// TestSearches visits every state of worlds of up to three processes, with up to two deaths. The
// numbers of states are printed. The command goulfm sim -exhaustive visits more.
func TestSearches(t *testing.T) {
	for _, s := range Searches(3) {
		t.Run(s.String(), func(t *testing.T) {
			if m, ok := s.model.(callModel); s.n == 3 && (testing.Short() || ok && m.revoke) {
				t.Skip("takes long: goulfm sim -exhaustive")
			}
			if s.n == 3 {
				longtest.Skip(t, "all states of three processes")
			}
			e, err := s.Run()
			if err != nil {
				t.Fatal(err)
			}
			if e.Ends == 0 {
				t.Error("nothing ever ends")
			}
			t.Logf("%d states, %d ends", e.States, e.Ends)
		})
	}
}

// spoiled is a model with an input that goes wrong: before and after are called around take. before
// reports whether the input is lost.
type spoiled struct {
	model
	before func(w *smallWorld, p int, in any) bool
	after  func(w *smallWorld, p int, in any)
}

func (m spoiled) take(w *smallWorld, p int, in any) {
	if m.before != nil && m.before(w, p, in) {
		return
	}
	m.model.take(w, p, in)
	if m.after != nil {
		m.after(w, p, in)
	}
}

// enters replaces the sets with which processes are noted to have called. Texts of the sets are
// those of rankset.Set.
func enters(from, to string) func(w *smallWorld, p int, in any) {
	return func(w *smallWorld, p int, _ any) {
		w.oracle[p] = slices.Clone(w.oracle[p])
		for i, text := range w.oracle[p] {
			if sets, ok := strings.CutPrefix(text, called+" "); ok && sets == from {
				w.oracle[p][i] = called + " " + to
			}
		}
	}
}

// TestSearchesFindIt: a search finds each planted wrong value, by the invariant that forbids the
// value.
func TestSearchesFindIt(t *testing.T) {
	agree, shrink := callModel{kind: commstate.KindAgree}, callModel{kind: commstate.KindShrink}
	for _, c := range []struct {
		name string
		want string
		s    Search
	}{
		{"a contributor to a shrink knew of a death that is not agreed", "R38: ", Search{spoiled{shrink, nil, enters("{}|{}", "{}|{1}")}, 2, 0}},
		{"a contributor to an agree knew of a death that is not agreed", "R38: ", Search{spoiled{agree, nil, enters("{}|{}", "{}|{1}")}, 2, 0}},
		{"an agree succeeds, and a death was not acknowledged", "R36: ", Search{spoiled{agree, nil, enters("{1}|{1}", "{}|{1}")}, 2, 1}},
		{"an agree fails, and each death was acknowledged", "R36: ", Search{spoiled{agree, nil, enters("{}|{1}", "{1}|{1}")}, 2, 1}},
		{"an agree succeeds, and another death was acknowledged", "R36: ", Search{spoiled{agree, nil, enters("{}|{}", "{1}|{}")}, 2, 0}},
		{"a publisher and all others lose its item", "I8: process 1 published its item and lives, processes [0 1] do not", Search{spoiled{floodModel{}, func(w *smallWorld, p int, in any) bool {
			_, publishes := in.(bool)
			if publishes && p == 1 {
				w.note(p, called)
			}
			return publishes && p == 1
		}, nil}, 2, 0}},
		{"a frame is lost", "I8: process 0 published its item and lives, processes [1] do not", Search{spoiled{floodModel{}, func(_ *smallWorld, p int, in any) bool {
			_, arrives := in.(frameFrom)
			return arrives && p == 1
		}, nil}, 2, 0}},
	} {
		_, err := c.s.Run()
		require.ErrorContains(t, err, c.want, c.name)
		t.Log(c.name+": ", err)
	}
}

// TestFloodEnd: at the end, an item of a live publisher is held by all live processes, and an item
// of a dead publisher by all or by none.
func TestFloodEnd(t *testing.T) {
	has0 := []string{called, answer + "0"}
	for _, c := range []struct {
		name   string
		dead   uint64
		oracle [][]string
		want   string
	}{
		{"nobody publishes", 0, [][]string{nil, nil, nil}, ""},
		{"all have the item", 0, [][]string{has0, has0[1:], has0[1:]}, ""},
		{"nobody has the item", 0, [][]string{{called}, nil, nil}, "I8: process 0 published its item and lives, processes [0 1 2] do not have the item"},
		{"one lacks the item", 0, [][]string{has0, nil, has0[1:]}, "I8: process 0 published its item and lives, processes [1] do not have the item"},
		{"the item died with its publisher", 1, [][]string{has0, nil, nil}, ""},
		{"the item outlives its publisher", 1, [][]string{has0, has0[1:], has0[1:]}, ""},
		{"one lacks the item of a dead publisher", 1, [][]string{has0, has0[1:], nil}, "I8: processes [1] have item 0, processes [2] do not"},
		{"a dead process lacks the item", 4, [][]string{has0, has0[1:], nil}, ""},
	} {
		err := floodModel{}.end(&smallWorld{n: 3, dead: c.dead, oracle: c.oracle})
		if c.want == "" {
			assert.NoError(t, err, c.name)
		} else {
			assert.EqualError(t, err, c.want, c.name)
		}
	}
}

// TestCopyMachine: a copy has the same state, and changes independently of the original.
func TestCopyMachine(t *testing.T) {
	events := []control.Event{
		control.Propose{Comm: control.World, Token: 1, Call: commstate.Call{Kind: commstate.KindDup}},
		control.Exited{Proc: 2},
		control.Propose{Comm: control.World, Token: 2, Call: commstate.Call{Kind: commstate.KindAgree}},
		control.Exited{Proc: 1},
	}
	a := callModel{}.machine(3, 0).(*control.Control)
	seen := map[world.Hash]bool{}
	for _, ev := range events {
		before := hashMachine(a, 0)
		b := copyMachine(a).(*control.Control)
		if hashMachine(b, 0) != before || b.Describe() != a.Describe() {
			t.Fatalf("the copy is\n%s\nthe original\n%s", b.Describe(), a.Describe())
		}
		wantActs := len(b.Step(ev))
		if hashMachine(a, 0) != before {
			t.Fatalf("%T: a step of the copy changed the original", ev)
		}
		if got := len(a.Step(ev)); got != wantActs || hashMachine(a, 0) != hashMachine(b, 0) {
			t.Fatalf("%T: %d actions, the copy has %d", ev, got, wantActs)
		}
		if seen[before] {
			t.Errorf("%T: the state before is one of those before that", ev)
		}
		seen[before] = true
	}
}

// TestSearchCountsStates compares with a simple enumeration: each of two processes publishes,
// receives the frame of the other, and no process dies.
func TestSearchCountsStates(t *testing.T) {
	e, err := Search{floodModel{}, 2, 0}.Run()
	if err != nil {
		t.Fatal(err)
	}
	// Neither has published; one has (2), and the other has read the frame (2), with its answer or
	// not; both have. The enumeration applies the same rules.
	want := countFlood(t)
	if e.States != want {
		t.Errorf("%d states, counted %d", e.States, want)
	}
}

// countFlood counts the states of two members by replaying every sequence of up to
// ten steps from the beginning, without copies or digests of machines.
func countFlood(t *testing.T) int {
	states := map[string]bool{}
	var visit func(steps []int)
	visit = func(steps []int) {
		text, can := replayFlood(steps)
		if states[text] {
			return
		}
		states[text] = true
		if len(steps) > 10 {
			t.Fatal("a sequence without end")
		}
		for _, c := range can {
			visit(append(steps[:len(steps):len(steps)], c))
		}
	}
	visit(nil)
	return len(states)
}

// replayFlood carries out steps: 0 and 1 publish, 2 and 3 deliver to 0 and 1.
func replayFlood(steps []int) (text string, can []int) {
	var f [2]*flood.Flood
	var queue [2][]string // to each
	var called [2]bool
	var order [2]string // deliveries at each process
	for p := range f {
		f[p] = floodModel{}.machine(2, p).(*flood.Flood)
	}
	for _, s := range steps {
		p := s % 2
		var acts []flood.Action
		if s < 2 {
			called[p] = true
			order[p] += "c"
			acts = f[p].Step(flood.Publish{Items: rankset.Of(p)})
		} else {
			msg := queue[p][0]
			queue[p] = queue[p][1:]
			acts = f[p].Step(flood.Receive{From: 1 - p, Msg: []byte(msg)})
		}
		for _, a := range acts {
			switch a := a.(type) {
			case flood.Send:
				queue[a.To] = append(queue[a.To], string(a.Msg))
			case flood.Deliver:
				order[p] += a.Items.String()
			}
		}
	}
	for p := range f {
		text += order[p] + "|" + strings.Join(queue[p], ",") + "|"
		if !called[p] {
			can = append(can, p)
		}
		if len(queue[p]) > 0 {
			can = append(can, 2+p)
		}
	}
	return text, can
}
