package nodes

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// TestB26LossOfARack: one rack of 4 nodes loses its power, of 8 nodes in two racks. If the racks
// are known, all others know of all lost nodes within one round: a Period, a Timeout and a Confirm.
// Without racks the 4 nodes are neighbours on the ring, which takes two more rounds (B9).
func TestB26LossOfARack(t *testing.T) {
	const period = 100 * mono.Millisecond
	round, confirm := period+5*period, 5*period/2
	var known, unknown []mono.Duration
	for seed := uint64(1); seed <= 20; seed++ {
		with := rackLoss(t, seed, period, []int{0, 1, 1, 1, 1, 2, 2, 2, 2})
		without := rackLoss(t, seed, period, nil)
		assert.LessOrEqual(t, with, round+confirm+period/2, "seed %d", seed)
		assert.Greater(t, without, round+confirm+period/2, "seed %d", seed)
		assert.LessOrEqual(t, without, 3*round+confirm+period/2, "seed %d", seed)
		known, unknown = append(known, with), append(unknown, without)
	}
	slices.Sort(known)
	slices.Sort(unknown)
	t.Logf("a rack of 4 of 8 nodes is lost, P %v, T %v, C %v: all know after %v (%v to %v); without racks after %v (%v to %v)",
		period, 5*period, confirm, known[10], known[0], known[19], unknown[10], unknown[0], unknown[19])
}

// rackLoss returns the time from the loss of nodes 4 to 7 until the last other member knows of all.
func rackLoss(t *testing.T, seed uint64, period mono.Duration, racks []int) (took mono.Duration) {
	lost := rankset.Of(5, 6, 7, 8)
	shape := func(s *nodeSetup) {
		*s = nodeSetup{
			sizes: slices.Repeat([]int{1}, 8), period: period, link: 20 * period, orphan: 60 * period, racks: racks,
			jitter: mono.Millisecond, sleepy: mono.Millisecond, delay: 100 * mono.Microsecond, copied: 64 << 10, news: mono.Millisecond,
			safety: 30 * period, within: 30 * period, calls: 8, think: 3 * period, bursts: 1,
		}
	}
	report, err := Run(Options{Seed: seed, Nodes: 8, Faults: []int{}, shape: shape, tamper: func(r *nodeRun) {
		at := 10*period + mono.Duration(seed)*period/20
		r.plan(at, func() {
			for m := range lost.All() {
				r.stations[m].powerOff()
			}
		})
		var look func()
		look = func() {
			for m, s := range r.stations {
				if !lost.Has(m) && !lost.SubsetOf(s.declarations) {
					r.plan(mono.Millisecond, look)
					return
				}
			}
			took = r.now.Sub(world.Epoch) - at
		}
		r.plan(at, look)
	}})
	require.NoError(t, err)
	require.Equal(t, 4, report.Lost)
	require.Positive(t, took)
	return took
}
