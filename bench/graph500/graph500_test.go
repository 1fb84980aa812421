package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/kron"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// Levels from the first root of scale 10, by the reference.
var levels10 = kron.Vectors[0].Levels0

const edges10 = 16239 + 144

// ways are all variants and kernel 3, as options of a run.
func ways(roots int) map[string]options {
	all := map[string]options{"shortest": {scale: 10, roots: roots, kernel: 3, variant: "claim"}}
	for name := range variants {
		all[name] = options{scale: 10, roots: roots, kernel: 2, variant: name}
	}
	return all
}

// is checks the first search of a run.
func is(t *testing.T, o options, f found) {
	t.Helper()
	assert.Equal(t, uint64(458), f.root)
	assert.Equal(t, uint64(edges10), f.edges)
	if o.kernel == 3 {
		assert.Equal(t, []uint64{897}, f.levels)
	} else {
		assert.Equal(t, levels10, f.levels)
	}
}

// TestSearches: every search of every variant is valid, and has the levels and the edges of the
// reference.
func TestSearches(t *testing.T) {
	for name, o := range ways(5) {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 3, 4} {
				commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
					r, err := run(ctx, w, o)
					if assert.NoError(t, err) && assert.Len(t, r.searches, 5) {
						is(t, o, r.searches[0])
					}
				})
			}
		})
	}
}

// TestSearchGoesOn: ranks die at levels of a search and in repairs; the levels are those of an
// undisturbed one.
func TestSearchGoesOn(t *testing.T) {
	for name, o := range ways(2) {
		t.Run(name, func(t *testing.T) {
			for _, kills := range [][]commtest.Killed{
				{{Rank: 1, Mark: "step", At: 0}},
				{{Rank: 0, Mark: "step", At: 2}},
				{{Rank: 3, Mark: "step", At: 1}, {Rank: 2, Mark: "step", At: 3}},
				{{Rank: 3, Mark: "step", At: 2}, {Rank: 1, Mark: "repair", At: 1}},
				{{Rank: 2, Mark: "step", At: 1}, {Rank: 0, Mark: "step", At: 1001}, {Rank: 1, Mark: "step", At: 1003}},
			} {
				commtest.Job{N: 4, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
					r, err := run(ctx, w, o)
					if err != nil {
						return err
					}
					is(t, o, r.searches[0])
					assert.GreaterOrEqual(t, r.repairs, 1)
					assert.Equal(t, 4-len(kills), r.ranks)
					return nil
				})
			}
		})
	}
}

// TestCheck: check accepts the known values of the smallest scale, and reports other values.
func TestCheck(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		assert.NoError(t, check(ctx, w, 10))
		v := kron.Vectors[0]
		v.Levels63 = []uint64{1, 2}
		assert.ErrorIs(t, checkVariant(ctx, w, v, variants["claim"]), errOther)
		v.Loops++
		if w.Rank() == 0 {
			assert.ErrorIs(t, checkEdges(ctx, w, v), errOther)
		} else {
			_, err := w.AllOK(ctx, nil)
			assert.NoError(t, err)
		}
	})
}

// TestInvalidTrees: the validation finds each kind of error in a tree, by messages and by one-sided
// operations.
func TestInvalidTrees(t *testing.T) {
	for _, name := range []string{"simple", "claim"} {
		for number, harm := range map[int][]func(words []uint64, root uint64){
			2: {
				func(w []uint64, root uint64) { w[root] = claimed(0, root^1) },
				func(w []uint64, root uint64) { w[someone(w, root)] = 0 },
				func(w []uint64, root uint64) { v := someone(w, root); w[v] = claimed(levelOf(w[v])+3, parentOf(w[v])) },
				func(w []uint64, root uint64) { v := someone(w, root); w[v] = claimed(levelOf(w[v]), uint64(v)) },
				func(w []uint64, root uint64) { w[someone(w, root)] = 1 << 63 },
				func(w []uint64, root uint64) { w[noone(w, 0)] = claimed(1, root) },
			},
			3: {
				func(w []uint64, root uint64) { w[root] = reached(0, root^1) },
				func(w []uint64, root uint64) { w[someone(w, root)] = far },
				func(w []uint64, root uint64) {
					v := someone(w, root)
					w[v] = reached(distanceOf(w[v])+3, nearerOf(w[v]))
				},
				func(w []uint64, root uint64) { v := someone(w, root); w[v] = reached(distanceOf(w[v]), uint64(v)) },
				func(w []uint64, root uint64) { w[noone(w, far)] = reached(1, root) },
			},
		} {
			for k, damage := range harm {
				commtest.Run(t, 1, func(ctx context.Context, c *comm.Comm) {
					g, err := build(ctx, c, kron.New(8), variants[name])
					assert.NoError(t, err)
					roots, err := g.roots(ctx, 1)
					assert.NoError(t, err)
					var s kernel = &search{root: roots[0]}
					if number == 3 {
						s = &shortest{root: roots[0]}
					}
					assert.NoError(t, s.run(ctx, g))
					var f found
					assert.NoError(t, g.validated(ctx, roots[0], number, &f))
					damage(g.mine()[0].words, roots[0])
					assert.Error(t, g.validated(ctx, roots[0], number, &f), "%s, kernel %d, %d", name, number, k)
					assert.NoError(t, g.free())
				})
			}
		}
	}
}

// someone is a vertex that was found, and not the root.
func someone(words []uint64, root uint64) int {
	for v, w := range words {
		if w != 0 && w != far && uint64(v) != root {
			return v
		}
	}
	panic("none was found")
}

// noone is a vertex that was not found, with the word none.
func noone(words []uint64, none uint64) int { return slices.Index(words, none) }

// TestSpread: the keys of the specification, for figures with known keys.
func TestSpread(t *testing.T) {
	var b strings.Builder
	printSpread(&b, "time", []float64{4, 1, 3, 2}, "%g")
	assert.Equal(t, "min_time: 1\nfirstquartile_time: 1.75\nmedian_time: 2.5\nthirdquartile_time: 3.25\nmax_time: 4\nmean_time: 2.5\nstddev_time: 1.2909944487358056\n", b.String())
	mean, deviation := harmonic([]float64{2, 2, 2})
	assert.Equal(t, 2.0, mean)
	assert.Zero(t, deviation)
	mean, _ = harmonic([]float64{1, 3})
	assert.InDelta(t, 1.5, mean, 1e-12)
}

// TestRecords: the records of a run for programs, with a remark for a run that lost ranks.
func TestRecords(t *testing.T) {
	r := report{ranks: 4, searches: []found{{took: 2 * time.Millisecond, valid: 3 * time.Millisecond}, {took: 5 * time.Millisecond, valid: 1500 * time.Microsecond}}}
	var b strings.Builder
	require.NoError(t, r.printRecords(&b, options{kernel: 2, variant: "simple"}, 4))
	got, err := record.Parse(strings.NewReader(b.String()))
	require.NoError(t, err)
	assert.Equal(t, []record.Record{
		{Bench: "simple search", N: 4, Unit: record.Millis, Batches: []float64{2, 5}},
		{Bench: "simple validation", N: 4, Unit: record.Millis, Batches: []float64{3, 1.5}},
	}, got)
	b.Reset()
	r.ranks, r.repairs = 3, 1
	require.NoError(t, r.printRecords(&b, options{kernel: 3}, 4))
	got, err = record.Parse(strings.NewReader(b.String()))
	require.NoError(t, err)
	assert.Equal(t, "shortest search", got[0].Bench)
	assert.Equal(t, "1 repairs, 3 of 4 ranks left", got[1].Wrong)
}

// TestFlags: accepted and refused flags.
func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-scale 16 -roots 4 -variant hybrid": true, "-kernel 3": true, "-json": true, "-searches 10 -n 3": true, "-check -scale 10": true,
		"-scale 3": false, "-scale 31": false, "-roots 65": false, "-variant other": false, "-kernel 1": false, "-n 1": false, "x": false,
	})
}

// TestMain lets a copy of this program be a rank.
func TestMain(m *testing.M) { trial.RunTests(m, func([]string) { main() }) }

// TestKilledSearches: searches of every variant by processes, of which some are killed.
func TestKilledSearches(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the launcher and starts processes")
	}
	o, err := parse([]string{"-searches", "14", "-scale", "10", "-n", "4", "-seed", "5"}, io.Discard)
	assert.NoError(t, err)
	var out strings.Builder
	code, err := drive(o, &out)
	assert.NoError(t, err)
	assert.Zero(t, code, out.String())
	for name := range ways(1) {
		assert.Contains(t, out.String(), "ranks killed in "+name+": ")
	}
}
