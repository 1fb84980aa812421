package main

import (
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// TestLazyIsFull plays the same deaths with heartbeats near faults only and with all heartbeats.
// Every death is detected at the same moment but for the delays of notices, and known to all within
// the same few microseconds.
func TestLazyIsFull(t *testing.T) {
	const slack = 20 * mono.Microsecond
	worst := mono.Duration(0)
	total := 0
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := []int{8, 9, 31, 64, 100, 257, 512, 1024}[seed%8]
		if testing.Short() && n > 300 {
			continue
		}
		s := lowLat
		s.inPhase = seed%5 == 4
		lazy, all := newWorld(s, n, seed), newFull(s, n, seed)
		for rank, at := range someDeaths(rng, n, mono.Time(3*s.timeout), s.timeout) {
			lazy.kill(rank, at)
			all.kill(rank, at)
		}
		end := mono.Time(20 * s.timeout)
		lazy.run(end)
		deaths := all.run(end)
		if all.lazy.unheard+lazy.unheard > 0 {
			t.Errorf("seed %d: unheard %d and %d", seed, lazy.unheard, all.lazy.unheard)
		}
		for _, want := range deaths {
			got := lazy.byRank[want.rank]
			for _, d := range []mono.Duration{got.detected.Sub(want.detected), got.known.Sub(want.known)} {
				worst = max(worst, d, -d)
				if max(d, -d) > slack || want.known == 0 {
					t.Errorf("seed %d, n = %d, death of %d at %v: lazily detected at %v and known at %v, really at %v and %v",
						seed, n, want.rank, want.at, got.detected, got.known, want.detected, want.known)
				}
			}
			total++
		}
	}
	t.Logf("%d deaths, at most %v apart", total, worst)
}

// someDeaths plans single deaths, neighbours and bursts.
func someDeaths(rng *rand.Rand, n int, from mono.Time, spread mono.Duration) map[int]mono.Time {
	out := map[int]mono.Time{}
	f := 1 + rng.IntN(min(12, n/3))
	first := rng.IntN(n)
	for i := range f {
		rank := rng.IntN(n)
		if f%2 == 0 {
			rank = (first + i) % n
		}
		at := from
		if f%3 > 0 {
			at = at.Add(mono.Duration(rng.Int64N(int64(3 * spread))))
		}
		out[rank] = at
	}
	return out
}
