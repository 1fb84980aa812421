package collectives_test

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// composition takes elements of 2k bits for the maps x -> a*x + b modulo 2^k, a in the
// high half: it is associative and does not commute.
func composition[T uint8 | uint64](f, g T) T {
	k := bits.Len64(uint64(^T(0))) / 2
	low := T(1)<<k - 1
	a, b := f>>k, f&low
	c, d := g>>k, g&low
	return (a*c)<<k | (a*d+b)&low
}

func compose[T uint8 | uint64](acc, in []T) {
	for i, g := range in {
		acc[i] = composition(acc[i], g)
	}
}

// TestCustomKeepsTheOrderOfRanks would fail if any two blocks of ranks were
// combined the wrong way round.
func TestCustomKeepsTheOrderOfRanks(t *testing.T) {
	maps := func(i int) uint64 { return uint64(2*i+3)<<32 | uint64(i*i+7) }
	if composition(maps(1), maps(2)) == composition(maps(2), maps(1)) {
		t.Fatal("the operation commutes: it shows nothing")
	}
	op := collectives.Custom(compose[uint64], false)
	reductions(t, "uint64", slices.Concat(sizes, large), 1000, maps, reduction[uint64]{"composition", op, composition[uint64]})
}

// TestAllreduceIsBitIdentical adds numbers whose sum depends on the brackets: all
// members get the same bits, twice in a row, and Reduce gets them too.
func TestAllreduceIsBitIdentical(t *testing.T) {
	for _, n := range slices.Concat(sizes, large) {
		const length = 100
		var mu sync.Mutex
		seen := map[string]int{}
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			src := make([]float64, length)
			for i := range src {
				src[i] = math.Sin(float64(i*17+w.Rank())) * math.Pow(10, float64((i+w.Rank())%9))
			}
			note := func(dst []float64, err error) {
				mu.Lock()
				defer mu.Unlock()
				seen[fmt.Sprintf("%x %v", dst, err)]++
			}
			for range 2 {
				dst := make([]float64, length)
				err := collectives.Allreduce(ctx, w, dst, src, collectives.Sum)
				note(dst, err)
			}
			for root := range n {
				dst := make([]float64, length)
				if err := collectives.Reduce(ctx, w, root, dst, src, collectives.Sum); w.Rank() == root || err != nil {
					note(dst, err)
				}
			}
		})
		if len(seen) != 1 {
			t.Errorf("%d ranks: %d different results", n, len(seen))
		}
		for _, times := range seen {
			if times != 3*n {
				t.Errorf("%d ranks: %d results, want %d", n, times, 3*n)
			}
		}
	}
}

// TestNaNIsNotLost: a residual that is no number must be visible at every member.
func TestNaNIsNotLost(t *testing.T) {
	const n = 5
	for at := range n {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			v := []float64{float64(w.Rank()), float64(w.Rank())}
			if w.Rank() == at {
				v[0], v[1] = math.NaN(), math.NaN()
			}
			high, low := make([]float64, 1), make([]float64, 1)
			if err := collectives.Allreduce(ctx, w, high, v[:1], collectives.Max); err != nil {
				t.Error(err)
			}
			if err := collectives.Allreduce(ctx, w, low, v[1:], collectives.Min); err != nil {
				t.Error(err)
			}
			if !math.IsNaN(high[0]) || !math.IsNaN(low[0]) {
				t.Errorf("NaN at rank %d: max %v, min %v at rank %d", at, high[0], low[0], w.Rank())
			}
		})
	}
}

// TestReproducible: sums that depend on the brackets have the same bits for every choice, for each
// length and at each root, and those of Allreduce are those of Reduce.
func TestReproducible(t *testing.T) {
	ways := func(all, one string) []collectives.Option {
		return []collectives.Option{collectives.Algorithm(all), collectives.Algorithm(one)}
	}
	value := func(rank, i int) float64 {
		return math.Sin(float64(i*17+rank)) * math.Pow(10, float64((i+rank)%9))
	}
	for _, n := range []int{3, 5, 8} {
		var mu sync.Mutex
		seen, other := map[float64]bool{}, map[float64]bool{}
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			note := func(where map[float64]bool, at int, dst []float64, err error) {
				mu.Lock()
				defer mu.Unlock()
				where[dst[at]] = true
				if err != nil {
					t.Error(err)
				}
			}
			for _, choice := range [][]collectives.Option{{{}, {}}, ways("ring", "binomial"), ways("rabenseifner", "rabenseifner"), ways("memory", "memory")} {
				all, one := choice[0], choice[1]
				for _, at := range []int{0, 3, 40, 9000} { // one place, in longer and longer vectors
					src := make([]float64, at+2)
					src[at] = value(w.Rank(), 1)
					for root := range n {
						dst := make([]float64, len(src))
						err := collectives.Reduce(ctx, w, root, dst, src, collectives.Sum, one, collectives.Reproducible())
						if w.Rank() == root {
							note(seen, at, dst, err)
						}
						err = collectives.Allreduce(ctx, w, dst, src, collectives.Sum, collectives.Reproducible(), all)
						note(seen, at, dst, err)
						err = collectives.Allreduce(ctx, w, dst, src, collectives.Sum, all)
						note(other, at, dst, err)
					}
				}
			}
		})
		if len(seen) != 1 || len(other) < 2 && n == 8 {
			t.Errorf("%d ranks: %d different sums, and %d if they need not be reproducible", n, len(seen), len(other))
		}
	}
}
