package nodecoll

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// kindsOfCalls are calls of which every two differ in what, one for each path
// through the package.
func kindsOfCalls(n int) []*call {
	cs := []*call{{verb: barrier, elem: 1}}
	for _, size := range []int{0, 8, 24, 56, inlineOf(n) + 8, 3000, 40000} {
		cs = append(cs,
			&call{verb: bcast, size: size, elem: 8},
			&call{verb: bcast, root: n - 1, size: size, elem: 8},
			&call{verb: reduce, size: size, elem: 8},
			&call{verb: reduce, root: n - 1, size: size, elem: 8},
			&call{verb: allreduce, size: size, elem: 8},
			&call{verb: scan, size: size, elem: 8},
			&call{verb: exscan, size: size, elem: 8})
		if size > 10000/n {
			continue
		}
		for _, v := range []verb{gather, scatter, allgather, alltoall, reduceScatter} {
			cs = append(cs, &call{verb: v, root: n / 2, size: size, elem: 8})
		}
	}
	return append(cs, &call{verb: allreduce, size: 24, elem: 4})
}

// TestEveryMismatch: whatever two different calls meet, who waits in one of them
// notices, nobody who completes has wrong data, and the group works on: all
// complete the barrier after, and the call that was broken when they make it again.
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
	defer w.nextGroup(4)
	before, after := &call{verb: barrier, elem: 1}, &call{verb: barrier, elem: 1, size: 1}
	again := &call{verb: most.verb, root: most.root, size: most.size, elem: most.elem, seed: 1}
	s := newSchedule(w, rng, mutual, 512, []*call{before, most, after, again})
	s.actors[who].calls = []*call{before, odd, after, again}
	s.mismatched = make([]bool, w.n)
	if err := s.run(); err != nil {
		return err
	}
	noticed := false
	for _, bad := range s.mismatched {
		noticed = noticed || bad
	}
	if !s.finished() {
		return fmt.Errorf("somebody waits for ever, noticed %v\n%v", noticed, s)
	}
	if !noticed && (waits(most) || waits(odd)) {
		return fmt.Errorf("nobody noticed\n%v", s)
	}
	return nil
}

// waits says whether a call completes at no member before all have come.
func waits(c *call) bool {
	return c.verb == barrier || c.verb == allreduce || c.verb == allgather || c.verb == alltoall || c.verb == reduceScatter
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

// TestSendersGoOn: two members that both only send cannot notice; nothing of it is
// left in the next operation.
func TestSendersGoOn(t *testing.T) {
	w := newWorld(2)
	gs := []*Group{New(w.config(0, true, 0)), New(w.config(1, true, 0))}
	for m, g := range gs {
		g.Bcast(uint64(10+m), m, make([]byte, 8))
		if !g.Advance() {
			t.Fatal("the root of a small broadcast waits")
		}
		g.Barrier(7)
	}
	if !gs[0].Advance() || !gs[1].Advance() {
		t.Error("the barrier after does not complete")
	}
}

// TestNote: who has come to another call is seen by who waits for it, and both go on.
func TestNote(t *testing.T) {
	for _, mutual := range []bool{true, false} {
		w := newWorld(2)
		gs := []*Group{New(w.config(0, mutual, 0)), New(w.config(1, mutual, 0))}
		gs[0].Barrier(7)
		gs[1].Note(8, true)
		if !gs[1].Advance() || !gs[1].Moved() || gs[1].Audience() != All {
			t.Error("a loud note waits, or tells nobody")
		}
		if m, theirs, bad := gs[0].Mismatch(); m != 1 || theirs != 8 || !bad {
			t.Errorf("Mismatch() = %d, %d, %v; want 1, 8, true", m, theirs, bad)
		}
		gs[0].Abandon()
		for _, g := range gs {
			g.Barrier(9)
		}
		if !gs[0].Advance() || !gs[1].Advance() {
			t.Errorf("mutual %v: the barrier after does not complete", mutual)
		}
	}
}
