//go:build failpoints

package nodecoll

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// TestDiesBeforeAnyStore kills one member before each of its stores in turn: for every prefix of
// its stores that the others see, none of the others completes wrongly, panics or writes out of
// bounds.
func TestDiesBeforeAnyStore(t *testing.T) {
	defer failpoint.On(nil)
	deaths := 0
	manySchedules(t, 30, func(t *testing.T, rng *rand.Rand, w *world, mutual bool, chunk int, calls []*call) {
		if len(calls) > 10 {
			calls = calls[:10]
		}
		victim, seed := rng.IntN(w.n), rng.Uint64()
		for k := 1; !t.Failed(); k++ {
			failpoint.On(nil)
			s := newSchedule(w, rand.New(rand.NewPCG(seed, uint64(k))), mutual, chunk, calls)
			dieBefore(s, victim, k)
			if err := errors.Join(s.run(), s.noMismatch()); err != nil {
				t.Errorf("member %d dies before its store %d: %v", victim, k, err)
			}
			w.nextGroup(len(calls))
			if !s.dead[victim] {
				if !s.finished() {
					t.Errorf("it hangs without a death:\n%v", s)
				}
				return
			}
			deaths++
		}
	})
	t.Logf("%d deaths", deaths)
	if deaths < 100 {
		t.Errorf("only %d deaths: this tests nothing", deaths)
	}
}

func dieBefore(s *schedule, victim, k int) {
	stores := 0
	failpoint.On(func(uint64) {
		if s.turn != victim {
			return
		}
		if stores++; stores == k {
			panic(killed{})
		}
	})
}
