package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// points is the count of a single rank.
func points() int {
	total := 0
	for step := range steps {
		total += count(step, 0, 1)
	}
	return total
}

func TestRowsAreSharedWithoutGaps(t *testing.T) {
	for _, size := range []int{2, 3, 7} {
		total := 0
		for rank := range size {
			for step := range steps {
				total += count(step, rank, size)
			}
		}
		assert.Equal(t, points(), total, "%d ranks", size)
	}
}

// TestADeathAnywhereChangesNothing kills one rank before one frame that it sends or
// receives, for every frame of the first steps and some of the others.
func TestADeathAnywhereChangesNothing(t *testing.T) {
	want, died := points(), 0
	for frame := uint64(1); ; frame += 1 + frame/10 {
		came := commtest.RunKilled(t, 3, 1, frame, func(ctx context.Context, w *comm.Comm) {
			_, total, err := iterate(ctx, w)
			if w.Rank() == 1 {
				assert.True(t, err == nil && total == want || assert.ErrorIs(t, err, comm.ErrFenced), "the victim: %d points", total)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, want, total)
		})
		if !came {
			break
		}
		died++
	}
	require.Greater(t, died, 20, "the victim died too seldom")
}
