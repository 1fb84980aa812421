package control

import (
	"math/rand/v2"
	"testing"
)

// TestPagesAgainstAMap draws and frees in random order, and compares with a map of the states.
func TestPagesAgainstAMap(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p, want := newPages(), map[uint32]State{}
		ended := map[uint32]bool{}
		var used []uint32
		next := uint32(0)
		for range 3000 {
			if k := rng.IntN(3); k > 0 || len(used) == 0 {
				next += uint32(rng.IntN(3)) // some are skipped
				p.put(next, entry{state: Live, comm: &communicator{}})
				want[next] = Live
				used = append(used, next)
				next++
			} else {
				at := rng.IntN(len(used))
				i := used[at]
				used = append(used[:at], used[at+1:]...)
				ended[i] = rng.IntN(2) == 0
				p.put(i, entry{state: Freed, grave: &grave{ended: ended[i]}})
				want[i] = Freed
			}
		}
		for _, i := range used {
			p.put(i, entry{state: Freed, grave: &grave{}})
			want[i] = Freed
		}
		for i := range next {
			s := p.at(i)
			if want[i] == Freed && (s.state != Freed || s.grave.ended != ended[i]) {
				t.Fatalf("seed %d: index %d is %v", seed, i, s.state)
			}
		}
		open := 0
		p.each(0, func(i uint32, s *entry) bool {
			open++
			return true
		})
		if open > pageLen {
			t.Errorf("seed %d: %d entries are kept, all are freed", seed, open)
		}
		if p.at(next) != nil {
			t.Errorf("seed %d: an entry that was never drawn", seed)
		}
	}
}
