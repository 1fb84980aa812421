package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/bench/internal/record"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func someFigure() *figure {
	f := &figure{id: "D1", title: "a < b & c", xLabel: "nodes", yLabel: "ms", logY: true}
	c := f.add("known", false)
	c.at(2, 1)
	c.at(4, 100)
	c.at(4, 300)
	f.medianOf(c)
	f.state("paper", []float64{2, 4}, []float64{5, 5})
	f.row("what", "5 ms", "%d of %d", 1, 2)
	return f
}

func TestFigureFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	require.NoError(t, someFigure().write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "D1.csv"))
	require.NoError(t, err)
	assert.Equal(t, "series,nodes,ms\nknown,2,1\nknown,4,100\nknown,4,300\n\"known, median\",2,1\n\"known, median\",4,200\npaper,2,5\npaper,4,5\n", string(text))
	_, err = os.Stat(filepath.Join(dir, "D1.svg"))
	assert.NoError(t, err)
	assert.Error(t, someFigure().write(filepath.Join(dir, "D1.csv")), "a file is no folder")
}

// elements counts the elements of a document, and fails if it is none.
func elements(t *testing.T, text string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

func TestSVG(t *testing.T) {
	count := elements(t, someFigure().svg())
	assert.Equal(t, 3+2+3, count["circle"], "of each point that was measured, and of the legend")
	assert.Equal(t, 2, count["polyline"])

	// Nothing, one point, and what a logarithm cannot show are drawings, too.
	assert.Zero(t, elements(t, (&figure{}).svg())["circle"])
	f := &figure{logY: true}
	f.add("one", true).at(3, 0)
	assert.Equal(t, 1, elements(t, f.svg())["circle"], "the legend alone")
	assert.NotContains(t, f.svg(), "NaN")
	assert.NotContains(t, f.svg(), "Inf")
}

func TestAxis(t *testing.T) {
	a := newAxis([]float64{10, 1000}, true, 0, 100)
	assert.InDelta(t, 50, a.pixel(100), 1e-9)
	ticks := a.ticks()
	require.Len(t, ticks, 7)
	assert.InDeltaSlice(t, []float64{10, 20, 50, 100, 200, 500, 1000}, ticks, 1e-6)

	a = newAxis([]float64{4, 40}, false, 100, 0)
	assert.InDelta(t, 100, a.pixel(0), 1e-9, "begins at 0")
	assert.InDelta(t, 50, a.pixel(20), 1e-9)
	assert.InDeltaSlice(t, []float64{0, 5, 10, 15, 20, 25, 30, 35, 40}, a.ticks(), 1e-9)
}

// TestAxisHasSomeTicks: five to eleven, whatever the span.
func TestAxisHasSomeTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		high := rng.Float64() * []float64{1, 100, 1e6}[rng.IntN(3)]
		n := len(newAxis([]float64{0, high}, false, 0, 1).ticks())
		assert.True(t, n >= 5 && n <= 11, "%d of %g", n, high)
	}
}

func TestTable(t *testing.T) {
	assert.Equal(t, "| D1 | what | 5 ms | 1 of 2 |\n", someFigure().table())
}

func TestReplaceRows(t *testing.T) {
	page := "# Head\n\n" + marker + "\nanything\n| D3 | third |\n| D1 | old |\n"
	got, err := replaceRows(page, "D1", "| D1 | a |\n| D1 | b |\n")
	require.NoError(t, err)
	want := "# Head\n\n" + marker + "\n" + tableTitle + "| D1 | a |\n| D1 | b |\n| D3 | third |\n"
	assert.Equal(t, want, got)
	again, err := replaceRows(got, "D3", "| D3 | new |\n")
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(want, "third", "new", 1), again)
	_, err = replaceRows("no place", "D1", "")
	assert.ErrorIs(t, err, errMarker)
}

func TestPickVictims(t *testing.T) {
	wrapped := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := 2 + rng.IntN(15)
		k := 1 + rng.IntN(n-1)
		for _, inRow := range []bool{true, false} {
			all := pickVictims(rng, n, k, inRow)
			require.Len(t, slices.Compact(slices.Clone(all)), k)
			assert.True(t, all[0] >= 0 && all[k-1] < n)
			if !inRow {
				continue
			}
			// A row has one end on a circle, at most: one of its nodes is without its successor there.
			ends := 0
			for _, v := range all {
				if !slices.Contains(all, (v+1)%n) {
					ends++
				}
			}
			assert.Equal(t, 1, ends, "%v of %d", all, n)
			if all[k-1]-all[0] >= k {
				wrapped++
			}
		}
	}
	assert.Positive(t, wrapped, "no row went around the end")
}

func TestTurns(t *testing.T) {
	turn := newTurns(3)
	// Each round is twice as slow as the one before: only ratios of one round mean something.
	for round := range 3 {
		slow := float64(int(1) << round)
		for s, v := range []float64{10, 11, 9} {
			turn.add(s, record.Record{Bench: "latency", N: 2, Size: 8, Unit: record.Micros, Batches: []float64{v * slow, 1000 * slow, v * slow}})
			turn.add(s, record.Record{Bench: "rate", N: 2, Unit: record.MBps, Batches: []float64{v / slow}})
		}
	}
	require.Len(t, turn.rows, 2)
	assert.Equal(t, "latency of 8 B, 2 ranks", turn.rows[0].String())
	assert.Equal(t, "rate, 2 ranks", turn.rows[1].String())
	assert.InDeltaSlice(t, []float64{0.1, 0.1, 0.1}, turn.overheads(turn.rows[0], 1), 1e-9)
	assert.InDeltaSlice(t, []float64{-0.1, -0.1, -0.1}, turn.overheads(turn.rows[0], 2), 1e-9)
	assert.InDelta(t, 10.0/11-1, turn.overheads(turn.rows[1], 1)[0], 1e-9, "more is better")
}

func TestSpans(t *testing.T) {
	assert.Equal(t, "1.0 to 9.0, median 2.0", spanOf([]float64{9, 1, 2}))
	assert.Equal(t, "none", spanOf(nil))
	assert.Equal(t, "-1.0 to +2.0 %, median +0.5 %", spanPercent([]float64{0.02, -0.01}))
	assert.Equal(t, "none", spanPercent(nil))
}
