package main

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestNobodyDies: tables without a death, on one rank and on several.
func TestNobodyDies(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			printed := 0
			assert.NoError(t, run(ctx, w, 3000, func(r result) {
				printed++
				assert.Equal(t, result{n, 0}, r)
			}))
			assert.Equal(t, w.Rank() == 0, printed == 1)
		})
	}
}

// TestRanksDie: some ranks die at points of the work, also while the table is repaired; every key
// is there.
func TestRanksDie(t *testing.T) {
	for _, kills := range [][]commtest.Killed{
		{{Rank: 1, Mark: "batch", At: 0}},
		{{Rank: 0, Mark: "batch", At: 99}},
		{{Rank: 1, Mark: "batch", At: 10}, {Rank: 3, Mark: "batch", At: 50}},
		{{Rank: 1, Mark: "batch", At: 30}, {Rank: 3, Mark: "repair", At: 1}},
		{{Rank: 4, Mark: "batch", At: 30}, {Rank: 0, Mark: "repair", At: 1}, {Rank: 2, Mark: "repair", At: 2}, {Rank: 1, Mark: "batch", At: 60}},
	} {
		var printed atomic.Int32
		reached := commtest.Job{N: 5, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			return run(ctx, w, 2000, func(r result) {
				printed.Add(1)
				assert.GreaterOrEqual(t, r.repairs, 1)
				assert.Equal(t, 5-len(kills), r.ranks)
			})
		})
		assert.Equal(t, int32(1), printed.Load())
		for _, k := range kills {
			assert.Contains(t, reached, k)
		}
	}
}

// TestPrinterDies: the rank that is about to print the result dies, and the next one prints it.
func TestPrinterDies(t *testing.T) {
	killed := commtest.Killed{Rank: 0, Mark: "report", At: 1}
	var printed atomic.Int32
	reached := commtest.Job{N: 4, Kills: []commtest.Killed{killed}}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return run(ctx, w, 2000, func(result) {
			assert.Equal(t, 1, w.Rank())
			printed.Add(1)
		})
	})
	assert.Contains(t, reached, killed)
	assert.Equal(t, int32(1), printed.Load())
}
