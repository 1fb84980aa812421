package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestEverythingEqualsSequential: every collective, blocking and not, in place and not,
// against a loop over the ranks, also with an operation that does not commute.
func TestEverythingEqualsSequential(t *testing.T) {
	s, k := newSweep(t), wordElements()
	for _, n := range manyRanks {
		if raced && n > 17 || n > longtest.N(9, 64) && !*longRun {
			break // 33 and 64 goroutines at a time find nothing more, and take most of the time
		}
		longest := 1000
		switch {
		case n > 17:
			longest = 2
		case n > 8:
			longest = n + 1
		}
		s.on(world{n, nil, tableChoice}, ordinaryAndOrdered(k, n, lengthsOf(n, 0, longest)))
	}
	s.on(world{3, nil, tableChoice}, ordinaryAndOrdered(k, 3, lengthsOf(3, longElems, longElems)))
	s.done("all collectives")
}

// TestEverythingOfEachType: all types of elements, and all operations.
func TestEverythingOfEachType(t *testing.T) {
	s := newSweep(t)
	for _, n := range []int{1, 3, 8} {
		for _, k := range plainKinds() {
			s.on(world{n, nil, tableChoice}, jobsOf(k, n, lengthsOf(n, 0, 1000), nil))
		}
		for _, k := range locKinds() {
			s.on(world{n, nil, tableChoice}, jobsOf(k, n, lengthsOf(n, 0, 1000), locVerbs))
		}
	}
	s.done("all types")
}

// TestEveryAlgorithmEqualsSequential: each algorithm of each verb, which With chooses,
// whole and in segments, with an operation that commutes and one that does not.
func TestEveryAlgorithmEqualsSequential(t *testing.T) {
	if *longRun {
		everything(t)
		return
	}
	s, k := newSweep(t), wordElements()
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9} {
		s.on(world{n, nil, choices}, ordinaryAndOrdered(k, n, lengthsOf(n, 0, 1000)))
	}
	s.done("all algorithms")
}

// wholeSweep is more than everything takes on two cores that have other work, too.
const wholeSweep = 40 * time.Minute

// manyRanks are the numbers of ranks, and fewRanks those with long slices of all types.
var (
	manyRanks = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33, 64}
	fewRanks  = []int{1, 2, 3, 4, 5, 8}
)

// nodesOf are nodes for n ranks: of 1, 1, 2, 4, 8, ... neighbours, and of ranks anywhere.
func nodesOf(n int) []commtest.Nodes {
	var near, anywhere commtest.Nodes
	for r := range n {
		near, anywhere = append(near, bits.Len(uint(r))), append(anywhere, (5*r+r/3)%3)
	}
	if n == 1 {
		return nil
	}
	return []commtest.Nodes{near, anywhere}
}

// everything is each way of each verb on manyRanks, with
//
//   - every length up to 1,000 at every root: of uint64, with a sum and with an operation
//     that does not commute;
//   - 100,003 elements at every root: of uint8, with both again;
//   - every type of elements with every length up to 1,000, roots and operations in turn;
//   - every type with 100,003 elements on fewRanks, roots and operations in turn.
//
// So any two of (way, number of ranks, length, type, root) meet, which is checked, and
// most sets of three or four; not: 100,003 elements of each type on many ranks.
func everything(t *testing.T) {
	if deadline, ok := t.Deadline(); ok && time.Until(deadline) < wholeSweep {
		t.Fatalf("this may take %v: go test ./collectives -run %s -long -v -timeout 1h", wholeSweep, t.Name())
	}
	s, kinds, locs := newSweep(t), plainKinds(), locKinds()
	words, octets := wordElements(), byteElements()
	t.Log("full: way x ranks x length x root of uint64, of uint8 where the length is 100,003")
	t.Log("covering: way x ranks x length x type with roots in turn, with 100,003 on some numbers of ranks:", fewRanks)
	for _, n := range manyRanks {
		short, long := lengthsOf(n, 0, 1000), lengthsOf(n, longElems, longElems)
		jobs := everyRoot(append(ordinaryAndOrdered(words, n, short), ordinaryAndOrdered(octets, n, long)...))
		if slices.Contains(fewRanks, n) {
			short = lengthsOf(n, 0, longElems)
		}
		for _, k := range kinds {
			jobs = append(jobs, jobsOf(k, n, short, nil)...)
		}
		for _, k := range locs {
			jobs = append(jobs, jobsOf(k, n, short, locVerbs)...)
		}
		s.on(world{n, nil, choices}, jobs)
		for _, nodes := range nodesOf(n) {
			s.on(onNodes(nodes), jobs)
		}
		for _, k := range slices.Concat(kinds, locs, []kind{words, octets}) {
			k.forget()
		}
		s.done(fmt.Sprintf("%d ranks", n))
	}
	missing, want := s.met.missing(manyRanks, kinds)
	for _, pair := range missing {
		t.Errorf("%s never met", pair)
	}
	t.Logf("%d pairs of values, %d of them have met", want, want-len(missing))
}

// TestManyAtOnce has several collectives open, with blocking ones between, and waits
// for them in another order at each rank.
func TestManyAtOnce(t *testing.T) {
	const n, rounds, open = 4, 10, 8
	problems := []*problem[uint64]{composed(n, 0), composed(n, 1), composed(n, 100), composed(n, 3000)}
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		for round := range rounds {
			rnd := rand.New(rand.NewPCG(uint64(round), uint64(w.Rank())))
			var rs []comm.Request
			var wants, dsts [][]uint64
			for k := range open {
				p := problems[(k+round)%4]
				c := p.trials(tableVerbs[(k+round)%len(tableVerbs)], k%n, w.Rank())[0]
				d := c.desk(p.desks[0].hole)
				rs, dsts = append(rs, c.twin(w, inner(d.dst), inner(d.src))), append(dsts, inner(d.dst))
				wants = append(wants, slices.Concat(c.want...))
			}
			if err := collectives.Barrier(ctx, w); err != nil {
				t.Error(err)
			}
			for i, k := range rnd.Perm(open) {
				var err error
				if i < open/2 {
					err = ended(ctx, rs[k])
				} else if k, _, err = comm.WaitAny(ctx, rs...); k < 0 {
					t.Errorf("round %d: nothing left to wait for: %v", round, err)
					return
				}
				equal(t, fmt.Sprintf("round %d, the %d-th", round, k), w.Rank(), err, dsts[k], wants[k])
			}
			if err := comm.WaitAll(ctx, rs...); !errors.Is(err, comm.ErrInactive) {
				t.Errorf("round %d: waited for again: %v", round, err)
			}
		}
	})
}
