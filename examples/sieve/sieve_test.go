package main

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// primesBelow counts by trial division.
func primesBelow(n int) (primes int) {
	for v := 2; v < n; v++ {
		prime := true
		for d := 2; d*d <= v; d++ {
			prime = prime && v%d != 0
		}
		if prime {
			primes++
		}
	}
	return primes
}

// TestNobodyDies: sieves of several sizes, also with fewer numbers than ranks.
func TestNobodyDies(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, below := range []int{2, 3, 100, 5000} {
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				printed := 0
				assert.NoError(t, run(ctx, w, below, func(r result) {
					printed++
					assert.Equal(t, result{primesBelow(below), n, 0}, r)
				}))
				assert.Equal(t, w.Rank() == 0, printed == 1)
			})
		}
	}
}

// TestRanksDie: some ranks die at points of the work, also while the sieve is repaired; all primes
// are there, and no other number.
func TestRanksDie(t *testing.T) {
	for _, kills := range [][]commtest.Killed{
		{{Rank: 1, Mark: "factor", At: 0}},
		{{Rank: 0, Mark: "factor", At: 3}},
		{{Rank: 4, Mark: "factor", At: 1}, {Rank: 2, Mark: "factor", At: 4}},
		{{Rank: 1, Mark: "factor", At: 2}, {Rank: 3, Mark: "repair", At: 1}},
		{{Rank: 4, Mark: "factor", At: 2}, {Rank: 0, Mark: "repair", At: 1}, {Rank: 2, Mark: "repair", At: 2}, {Rank: 1, Mark: "factor", At: 5}},
	} {
		var printed atomic.Int32
		reached := commtest.Job{N: 5, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			return run(ctx, w, 20000, func(r result) {
				printed.Add(1)
				assert.Equal(t, primesBelow(20000), r.primes)
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
		return run(ctx, w, 20000, func(result) {
			assert.Equal(t, 1, w.Rank())
			printed.Add(1)
		})
	})
	assert.Contains(t, reached, killed)
	assert.Equal(t, int32(1), printed.Load())
}
