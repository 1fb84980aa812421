package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

func TestMain(m *testing.M) { trial.RunTests(m, program.Main) }

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-figure all": true, "-figure fenix,lflr -quick": true, "-rank shrink -lost 0,3": true, "-figure x": false, "-figure goals,": false,
		"-rounds -1": false, "-lost 1,x -rank shrink": false, "-timeout 0s": false, "x": false, "-frob": false,
	})
}

// openBench is a bench for short measurements.
func openBench(t *testing.T) *bench {
	t.Helper()
	b, err := open(options{quick: true, rounds: 1, timeout: time.Minute, out: t.TempDir(), simulated: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(b.close)
	return b
}

// TestKills: ranks die one after the other, rank 0 among them, and each death has a time, phases,
// and a replacement with its data.
func TestKills(t *testing.T) {
	b := openBench(t)
	k, err := b.kills(3, "--spares 4", 4, 1<<16)
	require.NoError(t, err)
	for _, all := range [][]float64{k.took, k.phases.seen, k.phases.agree, k.phases.shrink, k.phases.replace, k.restore, k.fresh} {
		assert.Len(t, all, 4)
	}
	assert.Zero(t, k.cold, "with as many spares as deaths")

	k, err = b.kills(3, "", 1, 0)
	require.NoError(t, err)
	assert.Equal(t, 1, k.cold)
	assert.Empty(t, k.restore, "nothing was asked for")
}

// TestShrink: a shrink leaves out all ranks that die together, in every shape.
func TestShrink(t *testing.T) {
	b := openBench(t)
	for _, shape := range lots {
		for _, agree := range agreements {
			took, err := b.shrink(5, agree, shape.of(5, 2))
			require.NoError(t, err)
			assert.Len(t, took, 1)
		}
	}
}

// TestTables: every figure has its rows, its values and its files.
func TestTables(t *testing.T) {
	longtest.Skip(t, "every figure, once")
	b := openBench(t)
	for _, c := range []struct {
		take  func() (*table, error)
		rows  int
		files []string
	}{
		{b.goals, 10, nil},
		{b.fenix, 10, []string{"fenix4a", "fenix4b", "fenix4c", "fenixmtbf"}},
		{b.lflr, 6, []string{"lflr5a", "lflr5b", "lflr5c"}},
	} {
		table, err := c.take()
		require.NoError(t, err)
		assert.Len(t, table.rows, c.rows, table.text())
		for _, r := range table.rows {
			assert.Len(t, r, len(table.title))
		}
		for _, v := range table.values {
			assert.NotEmpty(t, v.all, v.what)
		}
		for _, id := range c.files {
			g, err := readGraph(b.out, id)
			require.NoError(t, err)
			assert.NotEmpty(t, g.curves, id)
		}
	}
}

// TestOnly: a choice of goals takes these alone.
func TestOnly(t *testing.T) {
	b := openBench(t)
	b.only, b.rounds = "coding", 2
	table, err := b.goals()
	require.NoError(t, err)
	assert.Len(t, table.rows, 1)

	b.csv, b.table = filepath.Join(t.TempDir(), "values.csv"), filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(b.table, []byte("before\n\n<!-- goals -->\n| title |\n|---|\n| other | a | b |  | c | no |\n| erasure coding 8+2 of 8 MiB | old |\n\nafter\n"), 0o600))
	require.NoError(t, b.publish(table))
	require.NoError(t, b.publish(table))
	page, err := os.ReadFile(b.table)
	require.NoError(t, err)
	fresh := strings.SplitAfter(table.text(), "\n")
	assert.Equal(t, "before\n\n<!-- goals -->\n"+fresh[0]+fresh[1]+"| other | a | b |  | c | no |\n"+fresh[2]+"\nafter\n", string(page), "the other row stays")
	whole, err := replaceTable(string(page), table, true)
	require.NoError(t, err)
	assert.Equal(t, "before\n\n<!-- goals -->\n"+table.text()+"\nafter\n", whole)
	values, err := os.ReadFile(b.csv)
	require.NoError(t, err)
	assert.Equal(t, 1+2*2*2, strings.Count(string(values), "\n"), "a title, and twice two rounds of a time and a ratio")

	require.NoError(t, os.WriteFile(b.table, []byte("no place\n"), 0o600))
	assert.ErrorContains(t, b.publish(table), "<!-- goals -->")
}

func TestPhasesOf(t *testing.T) {
	got := phasesOf("goulfm: recovery: rank 3 is served by process 8; 8 ranks back to version 1.3 (step 30); 12.5 ms after the failure was seen (agree 0.2 ms, shrink 1.0 ms, replace 10.1 ms)\nmore\n")
	assert.Equal(t, phases{seen: []float64{12.5}, agree: []float64{0.2}, shrink: []float64{1}, replace: []float64{10.1}}, got)
	assert.Zero(t, phasesOf("goulfm: recovery: 8 ranks go on from files\n"))
}

func TestBoard(t *testing.T) {
	name := filepath.Join(t.TempDir(), "board")
	require.NoError(t, makeBoard(name, 2))
	b, err := openBoard(name)
	require.NoError(t, err)
	b.set(0, 1_000_000)
	b.set(1, 3_500_000)
	_, err = readBoard(name)
	require.ErrorContains(t, err, "death 1", "the second one has left nothing")
	b.set(2, 5_000_000)
	b.set(3, 6_000_000)
	took, err := readBoard(name)
	require.NoError(t, err)
	assert.Equal(t, []float64{2.5, 1}, took)
}

func TestLots(t *testing.T) {
	assert.Equal(t, []int{4, 5, 6}, lots[0].of(16, 3))
	assert.Equal(t, []int{1, 3, 4, 7}, subtree(16, 4))
	assert.Equal(t, []int{1, 3, 4}, subtree(5, 9), "there are no more below rank 1")
	for _, l := range lots {
		seen := map[int]bool{}
		for _, r := range l.of(64, 16) {
			assert.True(t, r >= 0 && r < 64 && !seen[r], l.name)
			seen[r] = true
		}
		assert.Len(t, seen, 16, l.name)
	}
}

func TestGraph(t *testing.T) {
	dir := t.TempDir()
	g := &graph{id: "x", xLabel: "n", yLabel: "us"}
	g.at("a", 1, 2)
	g.at("b, c", 1, 3)
	g.at("a", 4, 5)
	require.NoError(t, g.write(dir))
	got, err := readGraph(dir, "x")
	require.NoError(t, err)
	assert.Equal(t, g.curves, got.curves)
	y, ok := got.value("a", 4)
	assert.True(t, ok)
	assert.Equal(t, 5.0, y)
	_, ok = got.value("a", 3)
	assert.False(t, ok)

	none, err := readGraph(dir, "y")
	require.NoError(t, err, "nobody has simulated it")
	assert.Empty(t, none.curves)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y.csv"), []byte("s,n,us\na,1,x\n"), 0o600))
	_, err = readGraph(dir, "y")
	assert.ErrorContains(t, err, "line 2")
}

// TestDaly: by hand, with commits of 2 s, repairs of 10 s and a failure in 100 s.
func TestDaly(t *testing.T) {
	assert.InDelta(t, 2.0/20+(10+10)/100.0, daly(2, 10, 100), 1e-12)
}

func TestSpread(t *testing.T) {
	assert.Equal(t, "2 (1-3)", spread([]float64{1, 3, 2, 1, 3}))
	assert.Equal(t, "none", spread(nil))
	assert.Equal(t, []float64{2, 4}, over([]float64{4, 8, 9}, []float64{2, 2}))
}

// TestDriveOfNothing: a choice that no goal has is an empty table.
func TestDriveOfNothing(t *testing.T) {
	code, err := drive(options{figures: []string{"goals"}, only: "nothing has this", timeout: time.Minute}, io.Discard)
	require.NoError(t, err)
	assert.Zero(t, code)
}
