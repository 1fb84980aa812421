package nodecoll

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// kindsOfCalls returns calls with different call words, one for each path through the package.
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

// TestEveryMismatch: for each two different calls that meet, a member that waits in one of them
// detects the mismatch, no member that completes has wrong data, and the group continues: all
// complete the barrier after, and the broken call when they repeat it.
func TestEveryMismatch(t *testing.T) {
	for _, n := range []int{2, 3, 9} {
		oneIn := longtest.N(5, 1)
		switch {
		case raceOn: // there is one goroutine
			oneIn = 21
		case n > 3:
			oneIn *= 7
		}
		for _, mutual := range []bool{true, false} {
			w := newWorld(n)
			rng := rand.New(rand.NewPCG(uint64(n), 3))
			for i, most := range kindsOfCalls(n) {
				for j, odd := range kindsOfCalls(n) {
					if i == j || (i+j)%oneIn != 0 {
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

// meets makes one member call odd while the others call most.
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

// waits reports whether a call completes at no member before all have entered.
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

// TestSendersGoOn: two members that both only send cannot detect the mismatch, which leaves no
// state for the next operation.
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

// TestNote: a waiting member detects that the other has made another call, and both continue.
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

// TestLargeAfterMismatch: after a mismatch of large calls the next large call follows at once, with
// no barrier between. No member that completes one of the calls has wrong data: neither members
// that still read in the broken call that others have abandoned, nor members that come later.
func TestLargeAfterMismatch(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		largeAfterMismatch(t, n, 512, 40000, longtest.N(5, 1))
	}
}

// TestLongAfterMismatch is the same with rings that wrap around: readers count steps, too.
func TestLongAfterMismatch(t *testing.T) {
	largeAfterMismatch(t, 3, 128<<10, 3*sharedAreaBytes/2, longtest.N(50, 10))
}

// largeAfterMismatch tries one in oneIn of all triples of calls, each in two regimes.
func largeAfterMismatch(t *testing.T, n, chunk, size, oneIn int) {
	if raceOn {
		oneIn *= 5
	}
	var kinds []*call
	for _, v := range []verb{bcast, reduce} {
		for _, root := range []int{0, n - 1} {
			kinds = append(kinds, &call{verb: v, root: root, size: size, elem: 8})
		}
	}
	kinds = append(kinds, &call{verb: bcast, size: size / 2, elem: 8},
		&call{verb: allreduce, size: size, elem: 8}, &call{verb: scan, size: size, elem: 8})
	for _, mutual := range []bool{true, false} {
		w := newWorld(n)
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		for i, most := range kinds {
			for j, odd := range kinds {
				for _, next := range kinds {
					if i == j || rng.IntN(oneIn) > 0 {
						continue
					}
					who := rng.IntN(n)
					if err := meetsThen(w, rng, mutual, chunk, who, most, odd, next); err != nil {
						t.Fatalf("%d members, %s: member %d calls %v, the others %v, then all %v: %v", n, regimeName(mutual), who, odd, most, next, err)
					}
				}
			}
		}
	}
}

// meetsThen makes one member call odd while the others call most, and then all call next, twice.
func meetsThen(w *world, rng *rand.Rand, mutual bool, chunk, who int, most, odd, next *call) error {
	defer w.nextGroup(4)
	before := &call{verb: barrier, elem: 1}
	then := func(seed uint64) *call {
		return &call{verb: next.verb, root: next.root, size: next.size, elem: next.elem, seed: seed}
	}
	first, second := then(1), then(2)
	s := newSchedule(w, rng, mutual, chunk, []*call{before, most, first, second})
	s.actors[who].calls = []*call{before, odd, first, second}
	s.mismatched, s.looksIn = make([]bool, w.n), 30
	if err := s.run(); err != nil {
		return fmt.Errorf("%w\n%v", err, s)
	}
	if !s.finished() {
		return fmt.Errorf("somebody waits for ever\n%v", s)
	}
	return nil
}

// TestNoStepsAfterABrokenOne: member 0 leaves a broken broadcast, of which it has filled all places
// of its ring, and would count steps as a reader of the next one. Member 1, which has not checked
// for a mismatch yet, must not mistake these steps for the missing chunks.
func TestNoStepsAfterABrokenOne(t *testing.T) {
	const n, chunk = 3, 128 << 10
	size := (sharedAreaBytes/chunk + 4) * chunk
	w := newWorld(n)
	var gs []*Group
	var dst [n][]byte
	for me := range n {
		gs = append(gs, New(w.config(me, false, chunk)))
		dst[me] = make([]byte, size)
	}
	for i := range size {
		dst[0][i], dst[2][i] = 1, 2
	}
	turns := func(members ...int) {
		for range 100 {
			for _, m := range members {
				gs[m].Advance()
			}
		}
	}
	gs[0].Bcast(7, 0, dst[0])
	gs[1].Bcast(7, 0, dst[1])
	gs[2].Barrier(8)
	turns(0)
	for _, m := range []int{0, 2} {
		_, _, bad := gs[m].Mismatch()
		require.True(t, bad, "member %d", m)
		gs[m].Abandon()
		gs[m].Bcast(9, 2, dst[m])
	}
	turns(0, 2)
	turns(1)
	require.False(t, gs[1].Done(), "complete without the last chunks")
	_, _, bad := gs[1].Mismatch()
	require.True(t, bad)
	gs[1].Abandon()
	gs[1].Bcast(9, 2, dst[1])
	turns(0, 1, 2)
	for m, g := range gs {
		require.True(t, g.Done(), "member %d waits for ever", m)
		require.Equal(t, dst[2], dst[m])
	}
}
