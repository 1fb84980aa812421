package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestNobodyDies: tables of several sizes, one rank and many.
func TestNobodyDies(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			r, err := run(ctx, w, 3000)
			assert.NoError(t, err)
			assert.Equal(t, result{w.Rank() == 0, n, 0}, r)
		})
	}
}

// TestRanksDie: some ranks die at points of the work, also while the table is repaired; every key is there.
func TestRanksDie(t *testing.T) {
	for _, kills := range [][]commtest.Killed{
		{{Rank: 1, Mark: "batch", At: 0}},
		{{Rank: 0, Mark: "batch", At: 99}},
		{{Rank: 1, Mark: "batch", At: 10}, {Rank: 3, Mark: "batch", At: 50}},
		{{Rank: 1, Mark: "batch", At: 30}, {Rank: 3, Mark: "repair", At: 1}},
		{{Rank: 4, Mark: "batch", At: 30}, {Rank: 0, Mark: "repair", At: 1}, {Rank: 2, Mark: "repair", At: 2}, {Rank: 1, Mark: "batch", At: 60}},
	} {
		reached := commtest.Job{N: 5, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			r, err := run(ctx, w, 2000)
			if err != nil {
				return err
			}
			assert.GreaterOrEqual(t, r.repairs, 1)
			assert.Equal(t, 5-len(kills), r.ranks)
			return nil
		})
		for _, k := range kills {
			assert.Contains(t, reached, k)
		}
	}
}
