package tree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// backWithin is the maximum time after which a resumed or reachable process is in the tree again.
const backWithin = 2 * mono.Second

// platform returns a settled tree of a root, two agents, and three servers below each.
func platform(t *testing.T, seed uint64) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 2)), calm: true, agents: make([]*node, 9)}
	for i, home := range []int{-1, 0, 0, 1, 1, 1, 2, 2, 2} {
		w.start(i, home, 16)
		w.run(w.now.Add(mono.Second))
	}
	w.settled(16)
	return w
}

// withoutChildren fails if a running process still has a parent that has been stopped for long.
func (w *world) withoutChildren(stopped *node) {
	for _, n := range w.agents {
		p, _, ok := n.rule.Tree().Parent()
		w.require(n == stopped || !ok || p.ID != stopped.me, "a%d does not notice that a%d is stopped", n.number, stopped.number)
	}
}

// TestBackInTheTree: any process is stopped for a short or a long time and resumes, or loses one or
// all of its connections. All processes are in the tree within two seconds, and later at home.
func TestBackInTheTree(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 20
	}
	faults := map[string]func(w *world, n *node){
		"stopped": func(w *world, n *node) {
			last := mono.Duration(w.random.Int64N(int64(8 * mono.Second)))
			w.peace = w.now.Add(60 * mono.Second)
			w.halt(n, last)
			w.run(w.now.Add(last))
		},
		"stopped twice": func(w *world, n *node) {
			w.peace = w.now.Add(120 * mono.Second)
			for range 2 {
				w.halt(n, 20*mono.Second)
				w.run(w.now.Add(2*detection + backWithin))
				w.withoutChildren(n)
				w.run(w.now.Add(20 * mono.Second))
			}
		},
		"cut off": func(w *world, n *node) {
			w.peace = w.now.Add(60 * mono.Second)
			w.cut(func(s *stream) bool { return s.of(n) })
		},
		"cut once": func(w *world, n *node) {
			w.peace = w.now.Add(60 * mono.Second)
			first := true
			w.cut(func(s *stream) bool { is := first && s.of(n); first = first && !is; return is })
		},
	}
	for name, fault := range faults {
		for place := range 9 {
			t.Run(fmt.Sprintf("a%d %s", place, name), func(t *testing.T) {
				for seed := range seeds {
					w := platform(t, seed)
					fault(w, w.agents[place])
					w.run(w.now.Add(backWithin))
					w.settled(16)
					w.run(w.now.Add(30 * mono.Second))
					w.settled(16)
					for i, home := range []int{1: 0, 0, 1, 1, 1, 2, 2, 2} {
						if i > 0 {
							p, _, _ := w.agents[i].rule.Tree().Parent()
							w.require(p.ID == w.agents[home].me, "a%d is not at home", i)
						}
					}
				}
			})
		}
	}
}

// TestObservedAgain: a declaration ends the observation of an ancestor. After a wrong declaration
// the next attachment begins the observation again, also an attachment to the same parent with the
// same ancestors.
func TestObservedAgain(t *testing.T) {
	parent := Ref{ID: ID{"parent", 7}, Addr: "parent", Tier: 1}
	root := Ref{ID: ID{"root", 8}, Addr: "root"}
	l := NewLinks(Config{Me: Ref{ID: ID{"me", 9}, Tier: Untiered}, Home: &Ref{ID: ID{Name: "parent"}, Tier: Untiered}})
	observed := func(actions []Action) (whom []Ref) {
		for _, a := range actions {
			if o, ok := a.(Observe); ok {
				whom = o.Whom
			}
		}
		return whom
	}
	attach := func(generation uint64) []Ref {
		return observed(l.Step(Joined{At: 1, Parent: parent, Generation: generation, Ancestors: []Ref{root}, Term: 1}))
	}
	l.Step(Start{At: 1})
	require.Equal(t, []Ref{parent, root}, attach(1))
	l.Step(Declared{At: 2, Who: root.ID})
	l.Step(Ended{At: 3, Generation: 1})
	l.Step(Answered{At: 4, Asked: parent.ID, Is: parent.ID})
	require.Equal(t, []Ref{parent, root}, attach(2))
}
