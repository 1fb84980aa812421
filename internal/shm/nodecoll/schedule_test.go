package nodecoll

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// schedule is a single-threaded run: in each turn one member, drawn at random, advances once. So a
// seed repeats a whole run.
type schedule struct {
	w      *world
	rng    *rand.Rand
	mutual bool
	chunk  int
	actors []*actor
	dead   []bool
	turn   int // the member that acts
	// sleeps holds the members that sleep until a publication is announced to them; nil: no member
	// sleeps.
	sleeps []bool
	// mismatched holds the members that have met a mismatch, abandoned the operation and continued;
	// nil: no member checks.
	mismatched []bool
	// looksIn is the mean number of advances between two checks for a mismatch by a waiting member;
	// 0: a check in each.
	looksIn int
}

func newSchedule(w *world, rng *rand.Rand, mutual bool, chunk int, calls []*call) *schedule {
	s := &schedule{w: w, rng: rng, mutual: mutual, chunk: chunk, dead: make([]bool, w.n)}
	for me := range w.n {
		s.actors = append(s.actors, &actor{w: w, me: me, n: w.n, calls: calls})
	}
	return s
}

// step lets member m act once. The first act of a member makes its Group, so some Groups are made
// when others already wait.
func (s *schedule) step(m int) error {
	s.turn = m
	defer s.bury(m)
	a := s.actors[m]
	if a.g == nil {
		a.g = New(s.w.config(m, s.mutual, s.chunk))
		return nil
	}
	if !a.open && !a.start() {
		return nil
	}
	done, err := a.advance()
	if !done && s.mismatched != nil && (s.looksIn == 0 || s.rng.IntN(s.looksIn) == 0) {
		if _, _, bad := a.g.Mismatch(); bad {
			s.mismatched[m] = true
			a.g.Abandon()
			a.open = false
			a.next++
		}
	}
	if err == nil && s.sleeps != nil {
		s.wake(a.g)
		s.sleeps[m] = !done && a.g.waiting != nil
	}
	return err
}

// progress returns a value that changes whenever a makes progress.
func (a *actor) progress() [7]int {
	g := a.g
	if g == nil {
		return [7]int{}
	}
	return [7]int{1, a.next, g.broadcast.pos, g.pipeline.pos, g.swap.pos, g.reduction.t, g.pull.pos}
}

// killed is the panic of a member that dies.
type killed struct{}

func (s *schedule) bury(m int) {
	switch r := recover().(type) {
	case nil:
	case killed:
		s.dead[m] = true
	default:
		panic(r)
	}
}

// wake uses Moved and Audience like an engine.
func (s *schedule) wake(g *Group) {
	if !g.Moved() {
		return
	}
	if to := g.Audience(); to >= 0 {
		s.sleeps[to] = false
		return
	}
	clear(s.sleeps)
}

// run takes turns until all live members are done or none of them has made progress in a long time.
func (s *schedule) run() error {
	for idle := 0; idle < 400*s.w.n; {
		m := s.rng.IntN(s.w.n)
		if s.dead[m] || s.sleeps != nil && s.sleeps[m] {
			idle++
			continue
		}
		for range 1 + s.rng.IntN(3)*s.rng.IntN(20) { // sometimes a member runs far ahead
			before := s.actors[m].progress()
			if err := s.step(m); err != nil {
				return err
			}
			idle++
			if s.dead[m] {
				break
			}
			if before != s.actors[m].progress() {
				idle = 0
			}
			if s.sleeps != nil && s.sleeps[m] {
				break
			}
		}
	}
	return nil
}

func (s *schedule) finished() bool {
	return !slices.ContainsFunc(s.actors, func(a *actor) bool { return a.open || a.next < len(a.calls) })
}

// noMismatch returns an error if a member mistakes a death for a mismatch.
func (s *schedule) noMismatch() error {
	for m, a := range s.actors {
		if s.dead[m] || a.g == nil {
			continue
		}
		if _, _, bad := a.g.Mismatch(); bad {
			return fmt.Errorf("member %d sees a mismatch, and there is none\n%v", m, s)
		}
	}
	return nil
}

func (s *schedule) String() string {
	var text string
	for m, a := range s.actors {
		if a.g == nil {
			text += fmt.Sprintf("member %d has no group\n", m)
			continue
		}
		text += fmt.Sprintf("member %d: call %d of %d, open %v, dead %v, waits for %v\n", m, a.next, len(a.calls), a.open, s.dead[m], a.g.Waits())
	}
	return text
}

// some reduces a number of schedules to a tenth under the race detector: there is one goroutine,
// and the detector is slow and finds nothing.
func some(count int) int {
	if raceOn {
		return count / 10
	}
	return count
}

// manySchedules calls f with many small worlds, twenty under the race detector.
func manySchedules(t *testing.T, count int, f func(t *testing.T, rng *rand.Rand, w *world, mutual bool, chunk int, calls []*call)) {
	if raceOn {
		count = 20
	} else if testing.Short() {
		count /= 5
	}
	w := map[int]*world{}
	for seed := range uint64(count) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n := 2 + rng.IntN(5)
		if rng.IntN(6) == 0 {
			n = 7 + rng.IntN(6)
		}
		if w[n] == nil {
			w[n] = newWorld(n)
			w[n].dirty(rng)
		}
		mutual, chunk := rng.IntN(2) == 0, []int{0, 400 + rng.IntN(900), 4096}[rng.IntN(3)]
		calls := randomCalls(rng, n, 6+rng.IntN(24), 260000/n) // large enough for steps, and for large scans among a few
		f(t, rng, w[n], mutual, chunk, calls)
		if t.Failed() {
			t.Fatalf("seed %d, %d members, %s, chunk %d", seed, n, regimeName(mutual), chunk)
		}
		w[n].nextGroup(len(calls))
	}
}

// TestRandomOrder: in every random order of members, all complete with the right results.
func TestRandomOrder(t *testing.T) {
	manySchedules(t, longtest.N(100, 400), func(t *testing.T, rng *rand.Rand, w *world, mutual bool, chunk int, calls []*call) {
		s := newSchedule(w, rng, mutual, chunk, calls)
		if err := s.run(); err != nil {
			t.Error(err)
		}
		if !s.finished() {
			t.Errorf("it hangs:\n%v", s)
		}
	})
}

// TestRefused: if the kernel refuses one member's copy from another, all members learn of the
// refusal, in this operation and in no other.
func TestRefused(t *testing.T) {
	heard, others := 0, 0
	manySchedules(t, 100, func(t *testing.T, rng *rand.Rand, w *world, mutual bool, chunk int, calls []*call) {
		s := newSchedule(w, rng, mutual, chunk, calls)
		refusedTo := map[*call]bool{}
		w.refuse = func(int) bool {
			no := rng.IntN(3) == 0
			if a := s.actors[s.turn]; no {
				refusedTo[a.calls[a.next]] = true
			}
			return no
		}
		defer func() { w.refuse = nil }()
		if err := s.run(); err != nil {
			t.Error(err)
		}
		if !s.finished() {
			t.Errorf("it hangs:\n%v", s)
		}
		for i, c := range calls {
			if c.verdicts[true] {
				heard++
			} else {
				others++
			}
			if c.verdicts[true] != refusedTo[c] {
				t.Errorf("call %d, %v: refused %v, and members have heard %v", i, c, refusedTo[c], c.verdicts[true])
			}
		}
	})
	if heard < 10 || others < 10 {
		t.Errorf("%d calls refused and %d not: this tests nothing", heard, others)
	}
}

// TestSleepers: a member that has to wait sleeps until another announces something to it. No member
// sleeps for ever.
func TestSleepers(t *testing.T) {
	manySchedules(t, longtest.N(100, 400), func(t *testing.T, rng *rand.Rand, w *world, mutual bool, chunk int, calls []*call) {
		s := newSchedule(w, rng, mutual, chunk, calls)
		s.sleeps = make([]bool, w.n)
		if err := s.run(); err != nil {
			t.Error(err)
		}
		if !s.finished() {
			t.Errorf("somebody was not woken:\n%vasleep: %v", s, s.sleeps)
		}
	})
}

// TestSleepersAtAnArea: a member that has to wait until all have read its area is woken, for every
// kind of data in the area and every late reader.
func TestSleepersAtAnArea(t *testing.T) {
	for _, before := range []verb{bcast, scatter, scan, exscan, allreduce, reduce} {
		t.Run(before.String(), func(t *testing.T) {
			for seed := range uint64(some(20)) {
				rng := rand.New(rand.NewPCG(seed, 9))
				n := 2 + rng.IntN(4)
				var calls []*call
				for range 12 {
					calls = append(calls, &call{verb: before, root: rng.IntN(n), size: min(longBytes+8*rng.IntN(100), before.sizeMax(n)), elem: 1, seed: rng.Uint64()})
					if rng.IntN(3) == 0 {
						calls = append(calls, randomCalls(rng, n, 1, 20000)...)
					}
					after := []verb{allreduce, allreduce, before, bcast, scan, reduce}[rng.IntN(6)]
					calls = append(calls, &call{verb: after, root: rng.IntN(n), size: min(longBytes+8, after.sizeMax(n)), elem: 1, seed: rng.Uint64()})
				}
				s := newSchedule(newWorld(n), rng, seed%5 == 0, 0, calls)
				s.sleeps = make([]bool, n)
				if err := s.run(); err != nil {
					t.Error(err)
				}
				if !s.finished() {
					t.Fatalf("seed %d, %d members: somebody was not woken:\n%vasleep: %v", seed, n, s, s.sleeps)
				}
			}
		})
	}
}

// TestChainRunsAhead: in a row of scans each member gets as far ahead of the next as there are
// slots, and the first member is ahead of the last by the sum. All members complete the calls
// behind the row.
func TestChainRunsAhead(t *testing.T) {
	const n, row = 5, 6 * slots
	lead := 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 8))
		calls := []*call{{verb: bcast, root: n - 1, size: 8, elem: 1}}
		for range row {
			calls = append(calls, &call{verb: scan, size: 8, elem: 1, seed: rng.Uint64()})
		}
		calls = append(calls, randomCalls(rng, n, 10, 20000)...)
		s := newSchedule(newWorld(n), rng, seed%2 == 0, 0, calls)
		for !s.finished() {
			few := 1 + rng.IntN(n) // so the last members act rarely
			moved, err := s.exhaust(few)
			if err == nil {
				err = s.noMismatch()
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if few == n && !moved {
				t.Fatalf("seed %d hangs:\n%v", seed, s)
			}
			lead = max(lead, s.actors[0].next-s.actors[n-1].next)
		}
	}
	if lead < (n-2)*slots {
		t.Errorf("the first member was %d operations ahead of the last at most", lead)
	}
}

// exhaust lets the first members, one after the other, proceed as far as possible, and reports
// whether one has made progress.
func (s *schedule) exhaust(members int) (moved bool, err error) {
	for m, a := range s.actors[:members] {
		for idle := 0; idle < 3; idle++ {
			before := a.progress()
			if err := s.step(m); err != nil {
				return moved, err
			}
			if before != a.progress() {
				moved, idle = true, 0
			}
		}
	}
	return moved, nil
}

// TestRingAfterReduction: a member that leaves a large reduction first and is then the root of a
// large broadcast does not overwrite results that the others still read, although all have met in
// the reduction:
//
//	member 0                        members 1 and 2
//	meets for the last time         meet for the last time
//	copies results out, leaves
//	fills its ring, all of the area
//	                                copy results of member 0 out of its area
func TestRingAfterReduction(t *testing.T) {
	const n = 3
	for seed := range uint64(some(20)) {
		rng := rand.New(rand.NewPCG(seed, 11))
		var calls []*call
		for root := range n {
			calls = append(calls, &call{verb: allreduce, size: 3*reduceChunkMutual + 8, elem: 8, seed: rng.Uint64()},
				&call{verb: bcast, root: root, size: areaBytes + areaBytes/4, elem: 1, seed: rng.Uint64()})
		}
		s := newSchedule(newWorld(n), rng, true, 0, calls)
		for moved := true; moved || !s.finished(); {
			moved = false
			for _, m := range rng.Perm(n) { // each member runs as far as possible
				for idle := 0; idle < 3; idle++ {
					before := s.actors[m].progress()
					require.NoError(t, s.step(m), "seed %d", seed)
					if before != s.actors[m].progress() {
						moved, idle = true, 0
					}
				}
			}
			require.True(t, moved || s.finished(), "seed %d: it hangs:\n%v", seed, s)
		}
	}
}

// TestStopsForever: a member stops for ever at a random moment. No other member completes wrongly,
// panics or writes out of bounds, and a member that cannot complete names the members for which it
// waits.
func TestStopsForever(t *testing.T) {
	incomplete := 0
	manySchedules(t, longtest.N(100, 400), func(t *testing.T, rng *rand.Rand, w *world, mutual bool, chunk int, calls []*call) {
		s := newSchedule(w, rng, mutual, chunk, calls)
		for range rng.IntN(40 * w.n) {
			if err := s.step(rng.IntN(w.n)); err != nil {
				t.Error(err)
				return
			}
		}
		s.dead[rng.IntN(w.n)] = true
		if err := errors.Join(s.run(), s.noMismatch()); err != nil {
			t.Error(err)
		}
		for m, a := range s.actors {
			if !s.dead[m] && a.open {
				incomplete++
				if waits := a.g.Waits(); len(waits) == 0 || slices.Contains(waits, m) {
					t.Errorf("member %d waits for %v\n%v", m, waits, s)
				}
			}
		}
	})
	if incomplete < 10 {
		t.Errorf("only %d operations could not complete: this tests nothing", incomplete)
	}
}
