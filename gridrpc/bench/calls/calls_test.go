package main

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInTurns: both sides are measured equally often, one after the other, and the ratio is that of
// turns.
func TestInTurns(t *testing.T) {
	order := ""
	side := func(name string, values ...float64) func() (float64, error) {
		return func() (float64, error) {
			order += name
			v := values[0]
			values = values[1:]
			return v, nil
		}
	}
	a, b, ratio, err := inTurns(3, side("a", 2, 40, 6), side("b", 1, 10, 6))
	require.NoError(t, err)
	assert.Equal(t, "ababab", order)
	assert.Equal(t, []float64{6, 6, 2}, []float64{a, b, ratio})
	bad := errors.New("bad")
	_, _, _, err = inTurns(3, side("a", 1), func() (float64, error) { return 0, bad })
	assert.ErrorIs(t, err, bad)
}

// TestThroughput: all callers call at least once, and the error of one caller is that of the turn.
func TestThroughput(t *testing.T) {
	var n atomic.Int64
	perSecond, err := throughput(8, time.Nanosecond, func() error { n.Add(1); return nil })
	require.NoError(t, err)
	assert.Positive(t, perSecond)
	assert.EqualValues(t, 8, n.Load())
	bad := errors.New("bad")
	_, err = throughput(2, time.Hour, func() error { return bad })
	assert.ErrorIs(t, err, bad)
	_, err = latency(time.Hour, func() error { return bad })
	assert.ErrorIs(t, err, bad)
}
