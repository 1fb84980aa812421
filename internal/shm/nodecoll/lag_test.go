package nodecoll

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLateReadersOfAMeeting: all have entered an operation in which all wait for all. Member 0 sees
// this first and continues: through broadcasts of its own, which wait for no member, to the
// operation that would use the same memory. The others still read the payloads of the meeting, so
// member 0 must wait.
func TestLateReadersOfAMeeting(t *testing.T) {
	sizes, members := []int{64, 900, 3000, 20000, 60000, 200000}, []int{2, 3, 5}
	if raceOn { // there is one goroutine
		sizes, members = []int{64, 60000}, []int{3}
	}
	for _, met := range []verb{allreduce, allgather, alltoall, reduceScatter, reduce} {
		for _, size := range sizes {
			for _, n := range members {
				for _, mutual := range []bool{false, true} {
					name := fmt.Sprintf("%v of %d bytes, %d members, %s", met, size, n, regimeName(mutual))
					require.NoError(t, lag(met, size, n, mutual), name)
				}
			}
		}
	}
}

// lag makes members meet repeatedly, with broadcasts of member 0 between the meetings.
func lag(met verb, size, n int, mutual bool) error {
	rng := rand.New(rand.NewPCG(uint64(size+n), 10))
	var calls []*call
	for range 6 {
		calls = append(calls, &call{verb: met, size: min(size, met.sizeMax(n)), elem: 1, seed: rng.Uint64(), inPlace: rng.IntN(2) == 0})
		for range []int{metSlots - 1, rng.IntN(2 * metSlots)}[rng.IntN(2)] { // often the number after which the slot is used again
			calls = append(calls, &call{verb: bcast, size: 8, elem: 1, seed: rng.Uint64()})
		}
	}
	return lagging(newSchedule(newWorld(n), rng, mutual, 0, calls))
}

// lagging lets member 0 proceed as far as possible, each time after some of the others have acted
// once.
func lagging(s *schedule) error {
	for turns := 0; !s.finished(); turns++ {
		for _, m := range s.rng.Perm(s.w.n)[:1+s.rng.IntN(s.w.n)] {
			if m == 0 {
				continue
			}
			if err := s.step(m); err != nil {
				return err
			}
		}
		if _, err := s.exhaust(1); err != nil {
			return err
		}
		if turns > 100_000 {
			return fmt.Errorf("it hangs:\n%v", s)
		}
	}
	return nil
}

// TestLateReadersOfARing: member 0 writes more than the area can hold, twice, and its readers come
// late: no chunk is overwritten before its readers have taken it.
func TestLateReadersOfARing(t *testing.T) {
	for _, v := range []verb{bcast, scan, reduce} {
		for _, n := range []int{2, 3} {
			for _, mutual := range []bool{false, true} {
				if v == reduce && (n > 2 || !mutual) {
					continue // not through a ring
				}
				rng := rand.New(rand.NewPCG(uint64(n), 12))
				var calls []*call
				for range 2 {
					c := &call{verb: v, size: areaBytes + areaBytes/4, elem: 1, seed: rng.Uint64()}
					if v == reduce {
						c.root = 1
					}
					calls = append(calls, c)
				}
				s := newSchedule(newWorld(n), rng, mutual, 0, calls)
				require.NoError(t, lagging(s), "%v, %d members, %s", v, n, regimeName(mutual))
			}
		}
	}
}

// TestLateReadersOfAnArea is the same for the area of the large algorithms, which a broadcast of
// member 0 fills as soon as no member still reads there.
func TestLateReadersOfAnArea(t *testing.T) {
	for _, x := range []struct {
		verb    verb
		size, n int
	}{{allreduce, 60_000, 2}, {allreduce, 200_000, 2}, {allreduce, 100_000, 3}, {reduce, 100_000, 3}} {
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 11))
			calls := []*call{
				{verb: x.verb, root: x.n - 1, size: x.size, elem: 1, seed: rng.Uint64()},
				{verb: bcast, size: areaBytes, elem: 1, seed: rng.Uint64()},
			}
			s := newSchedule(newWorld(x.n), rng, true, 0, calls)
			require.NoError(t, lagging(s), "%v of %d bytes, %d members, seed %d", x.verb, x.size, x.n, seed)
		}
	}
}
