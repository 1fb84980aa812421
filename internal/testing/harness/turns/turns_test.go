package turns

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

var (
	latency = KindOf(record.Record{Bench: "latency", N: 2, Size: 8, Unit: record.Micros})
	rate    = KindOf(record.Record{Bench: "rate", N: 2, Unit: record.MBps})
)

// TestOverheads: each round is twice as slow as the one before; only ratios within a round count.
func TestOverheads(t *testing.T) {
	one, both := New(4, 0), New(4, 0, 3)
	for round := range 3 {
		slow := float64(int(1) << round)
		for s, v := range []float64{10, 11, 9, 12} {
			for _, turn := range []*Turns{one, both} {
				turn.Add(s, latency, v*slow)
				turn.Add(s, rate, v/slow)
			}
		}
	}
	require.Equal(t, []Kind{latency, rate}, one.Kinds)
	assert.Equal(t, "latency of 8 B, 2 ranks", latency.String())
	assert.Equal(t, "rate, 2 ranks", rate.String())
	assert.InDeltaSlice(t, []float64{0.1, 0.1, 0.1}, one.Overheads(latency, 1), 1e-9)
	assert.InDeltaSlice(t, []float64{-0.1, -0.1, -0.1}, one.Overheads(latency, 2), 1e-9)
	assert.InDelta(t, 10.0/11-1, one.Overheads(rate, 1)[0], 1e-9, "more is better")
	assert.InDeltaSlice(t, []float64{0, 0, 0}, both.Overheads(latency, 1), 1e-9, "11 is the mean of 10 and 12")
	assert.InDeltaSlice(t, []float64{9, 18, 36}, one.Of(latency, 2), 1e-9)
}

// TestRoundsThatAreNotWhole: a round without all base settings has no overhead.
func TestRoundsThatAreNotWhole(t *testing.T) {
	turn := New(3, 0, 2)
	turn.Add(0, latency, 10)
	turn.Add(1, latency, 10)
	assert.Empty(t, turn.Overheads(latency, 1))
	assert.Zero(t, turn.Sigma(latency))
	turn.Add(2, latency, 10)
	turn.Add(0, latency, 99)
	turn.Add(1, latency, 10)
	assert.Equal(t, []float64{0}, turn.Overheads(latency, 1))
	assert.Zero(t, turn.Sigma(latency))
}

// TestSigma: sigma is the difference of equal settings within a round, not between rounds.
func TestSigma(t *testing.T) {
	turn := New(2, 0, 1)
	for round, slow := range []float64{1, 5, 3} {
		d := []float64{0.03, -0.03, 0.03}[round]
		turn.Add(0, latency, slow*(1+d))
		turn.Add(1, latency, slow*(1-d))
	}
	// Two values that are d from their mean have the variance 2d², with one degree of freedom.
	assert.InDelta(t, 0.03*1.4142135623730951, turn.Sigma(latency), 1e-9)

	alone := New(2, 0)
	alone.Add(0, latency, 1)
	assert.Zero(t, alone.Sigma(latency), "one setting does not differ")
}

func TestOrder(t *testing.T) {
	assert.Equal(t, []int{0, 1, 2, 3, 4}, Order(5, 0))
	assert.Equal(t, []int{0, 3, 2, 1, 4}, Order(5, 1))
	assert.Equal(t, []int{0, 1, 2, 3, 4}, Order(5, 2))
	assert.Equal(t, []int{0, 1}, Order(2, 1), "first and last stay")
}
