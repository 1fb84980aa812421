package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFitLog2(t *testing.T) {
	x := []float64{2, 4, 8, 16, 64}
	y := make([]float64, len(x))
	for i := range x {
		y[i] = 0.7*math.Log2(x[i]) - 0.2
	}
	f, err := fitLog2(x, y)
	require.NoError(t, err)
	assert.InDelta(t, 0.7, f.a, 1e-9)
	assert.InDelta(t, -0.2, f.b, 1e-9)
	assert.InDelta(t, 1, f.r2, 1e-9)
	assert.Equal(t, "0.70·log2 N -0.20 ms, R² = 1.00", f.String())

	// Of the points (1,0), (2,3), (4,0) on log2 the line is y = 1, which explains nothing.
	f, err = fitLog2([]float64{1, 2, 4}, []float64{0, 3, 0})
	require.NoError(t, err)
	assert.InDelta(t, 0, f.a, 1e-9)
	assert.InDelta(t, 1, f.b, 1e-9)
	assert.InDelta(t, 0, f.r2, 1e-9)

	// Constant values are explained completely.
	f, err = fitLog2([]float64{2, 4}, []float64{5, 5})
	require.NoError(t, err)
	assert.InDelta(t, 5, f.at(1000), 1e-9)
	assert.InDelta(t, 1, f.r2, 1e-9)
}

func TestFitWithoutALine(t *testing.T) {
	for _, c := range [][2][]float64{{{}, {}}, {{2}, {1}}, {{2, 2}, {1, 3}}, {{0, 2}, {1, 3}}, {{-1, 2}, {1, 3}}, {{2, 4}, {1}}} {
		_, err := fitLog2(c[0], c[1])
		assert.ErrorIs(t, err, errFit, "%v", c)
	}
}

func TestLateness(t *testing.T) {
	l := startLateness()
	l.note(time.Hour)
	l.note(time.Second)
	assert.GreaterOrEqual(t, l.stop(), 3.6e6, "the most of all")
}

func TestOutside(t *testing.T) {
	assert.Equal(t, 2, outside([]float64{0.9, 1, 1.5, 2, 2.1}, 1, 2))
	assert.Zero(t, outside(nil, 1, 2))
}
