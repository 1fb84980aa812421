package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/recovery"
)

// run returns the result line of a small box. There is one process value for each process of the
// job; it outlives the attempts.
func run(t *testing.T, j commtest.Job, cfg recovery.Config) string {
	t.Helper()
	var out bytes.Buffer
	cfg.Log = slog.New(slog.DiscardHandler)
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		p := &process{box: box{3, 2, 5}, steps: 2, out: &out}
		return recovery.Run(ctx, w, cfg, p.run)
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, l := range lines {
		assert.Equal(t, lines[0], l)
	}
	return lines[0]
}

// TestEachDeath: a rank dies in the assembly, in an exchange, in an iteration, in a commit, or in
// the report. The result is the same, bit for bit, and all data that it depends on is protected.
func TestEachDeath(t *testing.T) {
	try := func(j commtest.Job) string { return run(t, j, recovery.Config{Every: 1, Verify: true}) }
	commtest.EachKill(t, commtest.Job{N: 3}, try)
}

// TestOneRankTwice: a rank dies, another rank dies in the repair, and two replacements die later.
func TestOneRankTwice(t *testing.T) {
	cfg := recovery.Config{Every: 1}
	want := run(t, commtest.Job{N: 4}, cfg)
	got := run(t, commtest.Job{N: 4, Kills: []commtest.Killed{
		{Rank: 1, Mark: "cg", At: 3}, {Rank: 0, Mark: "repair.replace", At: 1}, {Rank: 4, Mark: "assemble", At: 1}, {Rank: 6, Mark: "cg", At: 2},
	}}, cfg)
	assert.Equal(t, want, got)
}

// TestAgreeInEachIteration: the agreements do not change the result, and there are at least as many
// agreements as iterations.
func TestAgreeInEachIteration(t *testing.T) {
	cfg := recovery.Config{Every: 1, Log: slog.New(slog.DiscardHandler)}
	want := run(t, commtest.Job{N: 3}, cfg)
	for _, kills := range [][]commtest.Killed{nil, {{Rank: 1, Mark: "cg", At: 4}, {Rank: 2, Mark: "commit.copy", At: 1}}} {
		var out bytes.Buffer
		commtest.Job{N: 3, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			p := &process{box: box{3, 2, 5}, steps: 2, agree: true, out: &out}
			return recovery.Run(ctx, w, cfg, p.run)
		})
		first, rest, _ := strings.Cut(out.String(), "\n")
		result, _, _ := strings.Cut(rest, "\n")
		var agreements, iterations int
		_, err := fmt.Sscanf(first, "agreements: %d in", &agreements)
		require.NoError(t, err, out.String())
		_, err = fmt.Sscanf(result, "result: steps=2 iterations=%d", &iterations)
		require.NoError(t, err, out.String())
		assert.Equal(t, want, result)
		assert.GreaterOrEqual(t, agreements, iterations)
	}
}

// TestMatrix: the stiffness of a linear field is zero inside, the mass of a constant one is the
// volume.
func TestMatrix(t *testing.T) {
	b := box{3, 4, 5}
	mass, system := b.assemble(0, b.planes(), 1)
	ones, field := make([]float64, (b.planes()+2)*b.plane()), make([]float64, (b.planes()+2)*b.plane())
	s := &solver{process: &process{box: b, hi: b.planes()}}
	s.eachNode(func(i, x, y, z int) { ones[i+b.plane()], field[i+b.plane()] = 1, b.source(x, y, z) })
	volume, m, a := 0.0, make([]float64, b.planes()*b.plane()), make([]float64, b.planes()*b.plane())
	mass.multiply(m, ones)
	for _, v := range m {
		volume += v
	}
	assert.InDelta(t, 1, volume, 1e-14)
	mass.multiply(m, field)
	system.multiply(a, field)
	s.eachNode(func(i, x, y, z int) {
		if !b.edge(x, y, z) {
			assert.Less(t, math.Abs(a[i]-m[i]), 1e-13)
		}
	})
}
