package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPickVictims(t *testing.T) {
	wrapped := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := 2 + rng.IntN(15)
		k := 1 + rng.IntN(n-1)
		for _, inRow := range []bool{true, false} {
			all := pickVictims(rng, n, k, inRow)
			require.Len(t, slices.Compact(slices.Clone(all)), k)
			assert.True(t, all[0] >= 0 && all[k-1] < n)
			if !inRow {
				continue
			}
			// A row has one end on a circle, at most: one of its nodes is without its successor
			// there.
			ends := 0
			for _, v := range all {
				if !slices.Contains(all, (v+1)%n) {
					ends++
				}
			}
			assert.Equal(t, 1, ends, "%v of %d", all, n)
			if all[k-1]-all[0] >= k {
				wrapped++
			}
		}
	}
	assert.Positive(t, wrapped, "no row went around the end")
}

func TestSpans(t *testing.T) {
	assert.Equal(t, "1.0 to 9.0, median 2.0", spanOf([]float64{9, 1, 2}))
	assert.Equal(t, "none", spanOf(nil))
	assert.Equal(t, "-1.0 to +2.0 %, median +0.5 %", spanPercent([]float64{0.02, -0.01}))
	assert.Equal(t, "none", spanPercent(nil))
}
