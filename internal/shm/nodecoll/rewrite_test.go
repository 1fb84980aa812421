//go:build failpoints

package nodecoll

import (
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// TestNoMismatchBetweenStores: in a row of scans a member overwrites lines of operations in which
// others still are. Before each of its stores no member mistakes the line for another call, and a
// member that knew that the writer has left an operation does not lose this knowledge.
func TestNoMismatchBetweenStores(t *testing.T) {
	defer failpoint.On(nil)
	const n, row = 5, 8 * slots
	rng := rand.New(rand.NewPCG(1, 9))
	var calls []*call
	for range row {
		calls = append(calls, &call{verb: scan, size: 1 + rng.IntN(100), elem: 1, seed: rng.Uint64()})
	}
	s := newSchedule(newWorld(n), rng, false, 0, calls)
	looks := 0
	failpoint.On(func(uint64) {
		for m, a := range s.actors {
			if m == s.turn || a.g == nil || !a.open {
				continue
			}
			looks++
			if who, _, bad := a.g.Mismatch(); bad {
				t.Fatalf("member %d, at call %d, holds that of %d, at call %d, for another", m, a.next, who, s.actors[who].next)
			}
			// The known progress of others does not shrink while they write the line that proves
			// it.
			writer := s.actors[s.turn]
			for i := a.g.op; writer.g != nil && i > a.g.op-slots && i > 0; i-- {
				if op, _ := a.g.readSequence(s.turn, i); i < writer.g.op && op < i {
					t.Fatalf("member %d sees that %d has not entered %d, and it is in %d", m, s.turn, i, writer.g.op)
				}
			}
		}
	})
	lead := 0
	for !s.finished() {
		if _, err := s.exhaust(1 + rng.IntN(n)); err != nil {
			t.Fatal(err)
		}
		lead = max(lead, s.actors[0].next-s.actors[n-1].next)
	}
	if lead <= 2*slots || looks < 1000 {
		t.Errorf("the first member was %d operations ahead of the last at most, %d looks: this tests nothing", lead, looks)
	}
}
