package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/bench/internal/plan"
	"github.com/goulfm/goulfm/bench/internal/record"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

func TestEveryOperation(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		p := plan.Plan{Ops: names(), Sizes: []int{8, 3000}, Batches: 3, Iters: 2}
		var out strings.Builder
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			to := new(record.Writer)
			if w.Rank() == 0 {
				to = record.NewWriter(&out, record.JSON)
			}
			if err := run(ctx, w, p, to); err != nil {
				t.Errorf("rank %d of %d: %v", w.Rank(), n, err)
			}
		})
		rs, err := record.Parse(strings.NewReader(out.String()))
		if err != nil || len(rs) != 1+2*(len(names())-1) {
			t.Fatalf("%d records, %v:\n%s", len(rs), err, out.String())
		}
		for _, r := range rs {
			if r.N != n || len(r.Batches) != 3 || r.Unit != record.Micros || slices.Min(r.Batches) <= 0 {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestChecksSeeAWrongResult(t *testing.T) {
	if err := sums([]float64{3, 6}, 3); err != nil {
		t.Error(err)
	}
	if sums([]float64{3, 5}, 3) == nil {
		t.Error("a wrong sum was not seen")
	}
	buf := make([]byte, 8)
	fill(buf[:4], 4, 0)
	fill(buf[4:], 4, 1)
	order := func(i int) int { return i }
	if err := parts(buf, 4, order); err != nil {
		t.Error(err)
	}
	buf[5]++
	if parts(buf, 4, order) == nil {
		t.Error("a wrong byte was not seen")
	}
	if parts(make([]byte, 1), 1, order) == nil {
		t.Error("a buffer that nobody wrote was not seen")
	}
}
