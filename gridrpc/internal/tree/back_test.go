package tree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/internal/mono"
)

// backWithin is the longest time until a process is in the tree again, once it goes on or can be reached.
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

// TestBackInTheTree: whichever process is stopped for a short or a long time and goes on, or loses its connections, or only one
// of them, all are in the tree within two seconds, and at home after some more.
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
