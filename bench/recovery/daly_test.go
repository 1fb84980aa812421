package main

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestDalyFigure: every interval has its row, and the advised one is in the middle; all results
// were right, or there is no table.
func TestDalyFigure(t *testing.T) {
	longtest.Skip(t, "jobs with many deaths")
	b := openBench(t)
	b.seed = 1
	table, err := b.daly()
	require.NoError(t, err)
	require.Len(t, table.rows, len(dalyTimes)+2, table.text())
	last := 0
	for i := range dalyTimes {
		every, err := strconv.Atoi(table.rows[i][1])
		require.NoError(t, err)
		assert.GreaterOrEqual(t, every, last)
		last = every
	}
	assert.Regexp(t, `^[\d.]+, measured$`, table.rows[len(dalyTimes)][1])
	deaths, err := strconv.Atoi(table.rows[len(dalyTimes)+1][5])
	require.NoError(t, err)
	assert.Positive(t, deaths, "some of the six runs are longer than the time to the first death\n%s", table.text())
	for _, v := range table.values {
		assert.Len(t, v.all, 1, v.what)
	}
}

// TestMoments: each rank dies once, one after the other, at a mean distance of one; in another
// round in another way.
func TestMoments(t *testing.T) {
	sum, rounds := 0.0, 200
	for round := range rounds {
		all := moments(1, round)
		assert.Equal(t, all, moments(1, round))
		seen, last := map[int]bool{}, 0.0
		for _, m := range all {
			assert.GreaterOrEqual(t, m.at, last)
			seen[m.rank], last = true, m.at
		}
		assert.Len(t, seen, dalyRanks)
		sum += last
	}
	assert.InDelta(t, 1, sum/float64(rounds*dalyRanks), 0.1)
	assert.NotEqual(t, moments(1, 0), moments(1, 1))
}

// TestDalyTable: the model at the measured costs, by hand: commits that cost as much as a step,
// each after 9 steps, and a death in 50.
func TestDalyTable(t *testing.T) {
	p := pilot{commit: 1, mtbf: 50, steps: 100}
	fixed := &tried{name: "fixed", every: 9, took: []float64{20, 30, 40}, cpu: []float64{1}, deaths: 3}
	found := &tried{name: "found", between: []float64{9, 10, 8}, deaths: 2}
	out := dalyTable(p, []*tried{fixed, found})
	// 50/9 * (e^(10/50) - 1) = 1.23
	assert.Equal(t, []string{"fixed", "9", "23 %", "30 (20-40) %", "1 (1-1) %", "3"}, out.rows[0])
	assert.Equal(t, []string{"found", "9, measured", "23 %", "none %", "none %", "2"}, out.rows[1])
	assert.Equal(t, "5", out.rows[2][5])
}
