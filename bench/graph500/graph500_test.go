package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// Of the first root of scale 10, as the reference has it.
var levels10 = []uint64{1, 8, 500, 380, 8}

// TestSearches: every search is valid, and has the levels and the edges of the reference.
func TestSearches(t *testing.T) {
	for _, n := range []int{1, 3, 4} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			r, err := run(ctx, w, 10, 5)
			if assert.NoError(t, err) && assert.Len(t, r.searches, 5) {
				assert.Equal(t, uint64(458), r.searches[0].root)
				assert.Equal(t, levels10, r.searches[0].levels)
				assert.Equal(t, uint64(16239+144), r.searches[0].edges)
			}
		})
	}
}

// TestSearchIsResumed: ranks die at levels of a search and in repairs; the levels are those of an undisturbed one.
func TestSearchIsResumed(t *testing.T) {
	for _, kills := range [][]commtest.Killed{
		{{Rank: 1, Mark: "level", At: 0}},
		{{Rank: 0, Mark: "level", At: 2}},
		{{Rank: 3, Mark: "level", At: 1}, {Rank: 2, Mark: "level", At: 3}},
		{{Rank: 3, Mark: "level", At: 2}, {Rank: 1, Mark: "repair", At: 1}},
	} {
		commtest.Job{N: 4, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			r, err := run(ctx, w, 10, 2)
			if err != nil {
				return err
			}
			assert.Equal(t, levels10, r.searches[0].levels)
			assert.Equal(t, uint64(16239+144), r.searches[0].edges)
			assert.GreaterOrEqual(t, r.repairs, 1)
			assert.Equal(t, 4-len(kills), r.ranks)
			return nil
		})
	}
}
