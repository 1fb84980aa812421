package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/heartbeats"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/turns"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

func TestPlan(t *testing.T) {
	p, err := parse(nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"simple", "onesided"}, p.variants)
	assert.Equal(t, []int{2, 16}, p.ranks)
	assert.Equal(t, []int{11, 16, 64}, []int{p.rounds, p.scale, p.searches})
	require.Len(t, p.periods, 7)
	assert.Equal(t, []time.Duration{time.Millisecond, 500 * time.Millisecond}, []time.Duration{p.periods[0], p.periods[6]})

	p, err = parse([]string{"-paper", "-rounds", "3"})
	require.NoError(t, err)
	assert.Equal(t, []int{3, 20, 64}, []int{p.rounds, p.scale, p.searches})
	p, err = parse([]string{"-quick", "-scale", "7", "-nodes", "4"})
	require.NoError(t, err)
	assert.Equal(t, []int{4}, p.ranks)
	assert.Equal(t, []int{3, 7, 8}, []int{p.rounds, p.scale, p.searches})

	for args, want := range map[string]string{
		"-quick -paper":       "want one",
		"-periods 1ms,x":      `"x" is no time`,
		"-periods 0s":         "is no time",
		"-periods 1h":         "is no time",
		"-n 1":                "at least 2",
		"-variants simple,x":  `not "x"`,
		"-nodes 1":            "from 2",
		"-rounds -1":          "from 1",
		"-scale 3":            "from 4",
		"-searches 65":        "1 to 64",
		"-limit 0s":           "above 0",
		"-quick more":         "no other argument",
		"-periods 1ms -n 2,y": "not a number",
	} {
		_, err := parse(strings.Fields(args))
		require.ErrorContains(t, err, want, args)
	}
}

func TestFlagsOfTheLauncher(t *testing.T) {
	assert.Equal(t, heartbeats.BetweenRanks(time.Millisecond), plan{}.flags(16, time.Millisecond))
	assert.Empty(t, plan{}.flags(16, heartbeats.Off))
	assert.Equal(t, heartbeats.BetweenNodes(3, 4, heartbeats.Off), plan{nodes: 3}.flags(10, heartbeats.Off), "ten ranks are on three nodes by fours")
}

// some is the output of a job of two searches.
func some(ranks int, ms float64) []record.Record {
	return []record.Record{
		{Bench: "simple search", N: ranks, Unit: record.Millis, Batches: []float64{ms / 4, 3 * ms / 4}},
		{Bench: "simple validation", N: ranks, Unit: record.Millis, Batches: []float64{ms, ms}},
	}
}

var kindOfSearch = turns.KindOf(some(2, 0)[0])

var small = plan{variants: []string{"simple"}, periods: []time.Duration{time.Millisecond, 10 * time.Millisecond}, ranks: []int{2, 16}, rounds: 3, scale: 6, searches: 2}

// TestTurns: the order of the measurements, and the sums.
func TestTurns(t *testing.T) {
	var played []string
	turn, err := small.take(t.Context(), "simple", func(_ context.Context, variant string, ranks int, period time.Duration) ([]record.Record, error) {
		played = append(played, fmt.Sprintf("%s %d %v", variant, ranks, period))
		return some(ranks, float64(len(played))), nil
	})
	require.NoError(t, err)
	require.Len(t, played, 2*3*4)
	assert.Equal(t, []string{"simple 2 1h0m0s", "simple 2 1ms", "simple 2 10ms", "simple 2 1h0m0s",
		"simple 2 1h0m0s", "simple 2 10ms", "simple 2 1ms", "simple 2 1h0m0s"}, played[:8])
	assert.Equal(t, "simple 16 1h0m0s", played[12])
	assert.Equal(t, []float64{2, 7, 10}, turn.Of(kindOfSearch, 1), "of 1 ms, the sum of both searches")
	validation := turns.KindOf(some(2, 0)[1])
	assert.Equal(t, []float64{2, 10, 18}, turn.Of(validation, 0))
	// The second round: 7 ms beside 5 and 8.
	assert.InDelta(t, 7/6.5-1, turn.Overheads(kindOfSearch, 1)[1], 1e-9)
}

// TestJobsThatAreNoFigures: a job that fails, that lost ranks, or that printed something else.
func TestJobsThatAreNoFigures(t *testing.T) {
	repaired := some(2, 1)
	repaired[1].Wrong = "1 repairs"
	for _, c := range []struct {
		records []record.Record
		err     error
		want    string
	}{
		{nil, io.ErrUnexpectedEOF, "simple, 2 ranks, period 1h0m0s, round 1: unexpected EOF"},
		{repaired, nil, "simple validation: 1 repairs"},
		{some(2, 1)[:1], nil, "1 records"},
	} {
		_, err := small.take(t.Context(), "simple", func(context.Context, string, int, time.Duration) ([]record.Record, error) { return c.records, c.err })
		require.ErrorContains(t, err, c.want)
	}
}

// TestDraw: of known times the overheads, the band, and the row.
func TestDraw(t *testing.T) {
	p := small
	p.ranks, p.out, p.rounds, p.load = []int{2}, t.TempDir(), 2, "0.50"
	took := map[time.Duration]float64{time.Millisecond: 1200, 10 * time.Millisecond: 1010}
	base := []float64{990, 1010} // so T0 is 1000, and sigma the root of 2 times 1 %
	turn, err := p.take(t.Context(), "simple", func(_ context.Context, _ string, ranks int, period time.Duration) ([]record.Record, error) {
		if period == heartbeats.Off {
			base[0], base[1] = base[1], base[0]
			return some(ranks, base[1]), nil
		}
		return some(ranks, took[period]), nil
	})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, p.place().Put(p.draw(subjectsOf("simple")[0], turn), &out))
	assert.Equal(t, fmt.Sprintf("| G17 | conditions |  | load average 0.50 at the start, %d processors |\n", runtime.NumCPU())+"| G17 | simple, search of 2 roots, scale 6, 2 ranks, heartbeats between ranks: overhead (medians of 2 rounds) | fig. 17"+said+
		" | +20.0 % (1ms), +1.0 % (10ms); σ without heartbeats 1.4 %; the effect is above the spread for 1ms; T0 1.00 s |\n", out.String())
	csv, err := os.ReadFile(filepath.Join(p.out, "G17.csv"))
	require.NoError(t, err)
	assert.Equal(t, "series,\"period of the heartbeats, ms\",\"overhead, %\"\n2 ranks,1,20\n2 ranks,1,20\n2 ranks,10,1\n2 ranks,10,1\n\"2 ranks, median\",1,20\n\"2 ranks, median\",10,1\n"+
		"\"2 ranks without heartbeats: σ, least\",1,-1.41421\n\"2 ranks without heartbeats: σ, least\",10,-1.41421\n\"2 ranks without heartbeats: σ, most\",1,1.41421\n\"2 ranks without heartbeats: σ, most\",10,1.41421\n", string(csv))

	p.nodes = 2
	assert.Equal(t, "G18n", p.draw(subjectsOf("simple")[1], turn).ID)
	assert.Equal(t, "the effect is below the spread for all periods", p.statement([]float64{-1, 1}, 2))
	assert.Equal(t, "the effect is above the spread for 10ms", p.statement([]float64{-1, -3}, 2))
	assert.Equal(t, "the effect is above the spread for 1ms", p.statement([]float64{math.NaN(), 1}, 2))
}

// TestFigures: one for each of the paper's, and all names are known to the page.
func TestFigures(t *testing.T) {
	assert.Equal(t, []string{"simple", "onesided", "onesided-shmem"}, variantsKnown())
	assert.Len(t, subjectsOf("onesided"), 2)
	assert.Equal(t, []string{"G17", "G18", "G19", "G20", "G19s", "G20s", "G17n", "G18n", "G19n", "G20n", "G19sn", "G20sn"}, ids())
}

// TestTinyGraph takes all four figures of real jobs, with heartbeats between two ranks and between
// two nodes.
func TestTinyGraph(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the launcher and starts processes")
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	require.NoError(t, os.WriteFile(page, []byte(figure.Marker+"\n"), 0o600))
	for nodes, end := range map[string]string{"0": "", "2": ofNodes} {
		if nodes != "2" && !longtest.On() {
			continue
		}
		p, err := parse([]string{"-scale", "6", "-searches", "2", "-periods", "1ms,10ms", "-rounds", "1", "-n", "2", "-nodes", nodes, "-out", dir, "-table", page, "-limit", "2m", "-busy"})
		require.NoError(t, err)
		require.NoError(t, takeAll(t.Context(), p, io.Discard))
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, id := range []string{"G17", "G18", "G19", "G20"} {
			assert.Equal(t, 1, strings.Count(string(text), "\n| "+id+end+" | conditions |"), "%s", text)
			assert.Equal(t, 2, strings.Count(string(text), "\n| "+id+end+" |"), "%s", text)
			csv, err := os.ReadFile(filepath.Join(dir, id+end+".csv"))
			require.NoError(t, err)
			assert.Equal(t, 2, strings.Count(string(csv), "\n2 ranks,"), "a point for each period in\n%s", csv)
		}
	}
}
