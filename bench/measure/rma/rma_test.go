package rma

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// TestEveryOperation: each prints a figure above 0 for each of its sizes.
func TestEveryOperation(t *testing.T) {
	p := plan.Plan{Ops: ops, Sizes: []int{8, 70000}, Batches: 3, Iters: 2, Format: record.JSON}
	var out strings.Builder
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		to := new(record.Writer)
		if w.Rank() == 0 {
			to = record.NewWriter(&out, p.Format)
		}
		assert.NoError(t, run(ctx, w, p, to))
	})
	rs, err := record.Parse(strings.NewReader(out.String()))
	assert.NoError(t, err)
	assert.Len(t, rs, len(ops)+6)
	for _, r := range rs {
		assert.Len(t, r.Batches, 3)
		assert.Positive(t, slices.Min(r.Batches), r.Bench)
		assert.Contains(t, ops, r.Bench)
	}
}

// TestOneRankIsTooFew: one rank is an error that states the limit.
func TestOneRankIsTooFew(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		assert.ErrorContains(t, run(ctx, w, plan.Plan{}, nil), "at least 2 ranks")
	})
}

// TestFigures: the figures are per operation, not per iteration.
func TestFigures(t *testing.T) {
	for op, want := range map[string]float64{"put": 64, "put64": 1, "flag": 32, "notify": 32, "fence": 64} {
		assert.InDelta(t, want, figures(op, 2, 8, []float64{64e-6}).Batches[0], 1e-9, op)
	}
}

// TestCheckSeesAWrongElement: check fails if put data is missing.
func TestCheckSeesAWrongElement(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		b, err := newBench(ctx, w, "put", 64)
		assert.NoError(t, err)
		assert.NoError(t, b.loop("put")(ctx, 1))
		assert.NoError(t, b.check(ctx, "put"))
		b.data.Local()[3] = 0
		assert.Equal(t, w.Rank() == 1, b.check(ctx, "put") != nil)
		assert.NoError(t, b.free())
	})
}
