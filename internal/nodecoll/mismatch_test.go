package nodecoll

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// kindsOfCalls are calls of which every two differ in what, one for each path
// through the package.
func kindsOfCalls(n int) []*call {
	cs := []*call{{kind: barrier, elem: 1}}
	for _, size := range []int{0, 8, 24, inline + 8, 3000, 40000} {
		cs = append(cs,
			&call{kind: bcast, size: size, elem: 8},
			&call{kind: bcast, root: n - 1, size: size, elem: 8},
			&call{kind: reduce, size: size, elem: 8},
			&call{kind: reduce, root: n - 1, size: size, elem: 8},
			&call{kind: allreduce, size: size, elem: 8})
	}
	return append(cs, &call{kind: allreduce, size: 24, elem: 4})
}

// TestEveryMismatch: whatever two different calls meet, somebody notices, at the
// latest in the barrier after, and nobody who completes has wrong data.
func TestEveryMismatch(t *testing.T) {
	for _, n := range []int{2, 3, 9} {
		for _, mutual := range []bool{true, false} {
			w := newWorld(n)
			rng := rand.New(rand.NewPCG(uint64(n), 3))
			for i, most := range kindsOfCalls(n) {
				for j, odd := range kindsOfCalls(n) {
					if i == j || (raceOn || n > 3) && (i+j)%7 != 0 {
						continue
					}
					who := rng.IntN(n)
					if err := meets(w, rng, mutual, who, most, odd); err != nil {
						t.Fatalf("%d members, %s: member %d calls %v, the others %v: %v", n, regimeName(mutual), who, odd, most, err)
					}
				}
			}
		}
	}
}

// meets has member who call odd where the others call most.
func meets(w *world, rng *rand.Rand, mutual bool, who int, most, odd *call) error {
	defer w.nextGroup(3)
	before, after := &call{kind: barrier, elem: 1}, &call{kind: barrier, elem: 1, size: 1}
	s := newSchedule(w, rng, mutual, 512, []*call{before, most, after})
	s.actors[who].calls = []*call{before, odd, after}
	s.mismatched = make([]bool, w.n)
	if err := s.run(); err != nil {
		return err
	}
	noticed := false
	for m, bad := range s.mismatched {
		a := s.actors[m]
		noticed = noticed || bad
		if !a.open && a.next == 3 {
			return fmt.Errorf("member %d completed the barrier after\n%v", m, s)
		}
		if _, theirs, _ := a.g.Mismatch(); bad && a.next == 1 && theirs == a.calls[1].what() {
			return fmt.Errorf("member %d calls its own call another one", m)
		}
		if !bad && a.open && a.next == 1 && sees(a.g) {
			return fmt.Errorf("member %d waits though it can see the mismatch\n%v", m, s)
		}
	}
	if !noticed {
		return fmt.Errorf("nobody noticed\n%v", s)
	}
	return nil
}

// sees says whether some member's line of the open operation shows another call.
func sees(g *Group) bool {
	for m := range g.members {
		if g.isHere(m) && g.members[m].cells[g.slot].what() != g.what {
			return true
		}
	}
	return false
}

// TestMismatchNames: the member and its call are named.
func TestMismatchNames(t *testing.T) {
	w := newWorld(3)
	gs := []*Group{New(w.config(0, true, 0)), New(w.config(1, true, 0)), New(w.config(2, true, 0))}
	gs[0].Barrier(7)
	gs[1].Barrier(7)
	if _, _, bad := gs[0].Mismatch(); bad {
		t.Fatal("a mismatch where there is none")
	}
	gs[2].Bcast(8, 2, make([]byte, 8))
	if !gs[2].Advance() {
		t.Fatal("the root of a small broadcast waits")
	}
	for _, g := range gs[:2] {
		if m, theirs, bad := g.Mismatch(); m != 2 || theirs != 8 || !bad {
			t.Errorf("Mismatch() = %d, %d, %v; want 2, 8, true", m, theirs, bad)
		}
		if g.Advance() {
			t.Error("completed after a mismatch")
		}
	}
}

// TestMismatchOfSenders: two members that both only send cannot notice at once;
// the next operation in which one waits for the other says so.
func TestMismatchOfSenders(t *testing.T) {
	w := newWorld(2)
	gs := []*Group{New(w.config(0, true, 0)), New(w.config(1, true, 0))}
	for m, g := range gs {
		g.Bcast(uint64(10+m), m, make([]byte, 8))
		if !g.Advance() {
			t.Fatal("the root of a small broadcast waits")
		}
		g.Barrier(7)
	}
	for m, g := range gs {
		g.Advance()
		if other, theirs, bad := g.Mismatch(); other != 1-m || theirs != 7 || !bad {
			t.Errorf("Mismatch() = %d, %d, %v; want %d, 7, true", other, theirs, bad, 1-m)
		}
	}
}
