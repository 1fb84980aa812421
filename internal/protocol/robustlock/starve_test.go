package robustlock

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNobodyStarves: processes that request the lock repeatedly, in any mixture of modes and with
// random steps, overtake each other a bounded number of times.
func TestNobodyStarves(t *testing.T) {
	for _, mix := range []string{"XXXX", "XSSS", "XXXS", "XXSS"} {
		t.Run(mix, func(t *testing.T) {
			worst := 0
			for seed := range uint64(20) {
				worst = max(worst, overtakes(t, mix, rand.New(rand.NewPCG(seed, 12))))
			}
			t.Logf("at most %d others between a claim and its hold", worst)
			assert.Less(t, worst, 60)
		})
	}
}

// overtakes returns the greatest number of holds of others between the begin of a wait and the
// hold that ends it.
func overtakes(t *testing.T, mix string, rng *rand.Rand) (worst int) {
	t.Helper()
	programs := make([]string, len(mix))
	for p, mode := range mix {
		programs[p] = strings.Repeat(string(mode), 500)
	}
	w := newWorld(programs...)
	var since [procsMax]int
	holds := 0
	for !w.done(0) && !w.done(1) && !w.done(2) && !w.done(3) {
		p := rng.IntN(w.n)
		before := w.locks[p].Outcome()
		require.NoError(t, w.step(p))
		switch after := w.locks[p].Outcome(); {
		case before == Idle && after == Waiting:
			since[p] = holds
		case before == Waiting && after == Held:
			worst = max(worst, holds-since[p])
			holds++
		}
	}
	return worst
}
