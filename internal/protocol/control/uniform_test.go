package control

import (
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// TestSpecC9DeathRevokes: in random worlds, on parents and children, a communicator with a dead
// member is revoked at all live members, and no other communicator is revoked; with the mode off
// none is.
func TestSpecC9DeathRevokes(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n, on := 3+rng.IntN(6), seed%4 != 0
		c := newClusterWith(t, n, Config{Uniform: on})
		half := func(p int) int { return p % 2 }
		tokens := make([]uint64, n)
		for p := range n {
			ev := call(commstate.KindSplit)
			ev.Color = half(p)
			tokens[p] = c.propose(p, ev)
		}
		c.run()
		shrunk := newIndex(c.all(world, call(commstate.KindShrink)))
		victim := rng.IntN(n)
		c.die(victim)
		c.lose(victim)
		first := (victim + 1 + rng.IntN(n-1)) % n
		c.step(first, Exited{Proc: victim})
		c.run()
		for _, p := range c.live() { // also a process that has not learnt of the death
			if got := c.procs[p].IsRevoked(World); got != on {
				t.Fatalf("seed %d: process %d: the world is revoked: %v", seed, p, got)
			}
		}
		c.notice(victim)
		c.run()
		for _, p := range c.live() {
			if got := c.procs[p].IsRevoked(shrunk(p)); got != on {
				t.Fatalf("seed %d: process %d: the shrunk world is revoked: %v", seed, p, got)
			}
			child := c.got[p][tokens[p]].Outcome.New.Index
			if got := c.procs[p].IsRevoked(child); got != (on && half(p) == half(victim)) {
				t.Fatalf("seed %d: process %d: its half is revoked: %v", seed, p, got)
			}
		}
		again := newIndex(c.all(world, call(commstate.KindShrink)))
		for _, p := range c.live() {
			if c.procs[p].IsRevoked(again(p)) {
				t.Fatalf("seed %d: process %d: the repaired world is revoked", seed, p)
			}
		}
	}
}
