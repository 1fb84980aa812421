package main

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSimulated: in virtual time no job is lost. Deaths of agents cost almost nothing if the tree
// is repaired, and much if it is not. A second run is the same.
func TestSimulated(t *testing.T) {
	p := grid
	took := map[string]float64{}
	for _, c := range curves {
		done := simulate(c, p)
		require.Len(t, done, p.jobs)
		assert.IsNonDecreasing(t, done)
		took[c.name] = done[len(done)-1]
	}
	waves := (p.jobs + 95) / 96
	assert.Greater(t, took["undisturbed"], float64(waves-1)*28.24*0.95, "nobody works faster than all servers together")
	assert.LessOrEqual(t, took["recovery"], 1.10*took["undisturbed"])
	assert.Greater(t, took["no recovery"], 1.25*took["recovery"])
	assert.Equal(t, took["recovery"], simulate(curves[1], p)[p.jobs-1])
}

// TestDrive: the plan determines the number of jobs under way. All are reported in order, and an
// error ends the farm.
func TestDrive(t *testing.T) {
	p := plan{jobs: 95, first: 20, step: 10}
	var begun, ended atomic.Int64
	told := 0
	require.NoError(t, p.drive(func() error {
		assert.LessOrEqual(t, begun.Add(1)-ended.Load(), int64(p.first+p.step))
		ended.Add(1)
		return nil
	}, func(n int) error {
		told++
		assert.Equal(t, told, n)
		return nil
	}))
	assert.EqualValues(t, 95, begun.Load())
	assert.Equal(t, 95, told)
	bad := errors.New("bad")
	assert.ErrorIs(t, p.drive(func() error { return bad }, func(int) error { return nil }), bad)
}

// TestVictims: each dies once, when its share of the jobs is done.
func TestVictims(t *testing.T) {
	for _, p := range []plan{grid, small} {
		var all []string
		for n := 1; n <= p.jobs; n++ {
			names := p.victims(n)
			if len(names) > 0 {
				assert.Contains(t, []int{100, 350, 650}, n)
			}
			all = append(all, names...)
		}
		assert.Len(t, all, 4)
	}
}

// FuzzLayout: a text is either refused, or has as many sites as parts.
func FuzzLayout(f *testing.F) {
	for _, text := range []string{"3x16,4x12", "", "1x", "0x1", "1x1x1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sites, err := plan{sites: text}.layout()
		if err != nil {
			assert.ErrorContains(t, err, "--tree")
			return
		}
		assert.Len(t, sites, strings.Count(text, ",")+1)
		for _, s := range sites {
			assert.Positive(t, s.agents*s.servers)
		}
	})
}
