package coll

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// some is a plan that takes next to no time.
func some() plan.Plan { return plan.Plan{Ops: names(), Sizes: []int{8, 3000}, Batches: 3, Iters: 2} }

// recordsOf returns the records that rank 0 of n prints for programs.
func recordsOf(t *testing.T, n int, run func(ctx context.Context, w *comm.Comm, out *record.Writer) error) []record.Record {
	t.Helper()
	var out strings.Builder
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		to := new(record.Writer)
		if w.Rank() == 0 {
			to = record.NewWriter(&out, record.JSON)
		}
		if err := run(ctx, w, to); err != nil {
			t.Errorf("rank %d of %d: %v", w.Rank(), n, err)
		}
	})
	rs, err := record.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatalf("%v:\n%s", err, out.String())
	}
	return rs
}

func TestEveryOperation(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		rs := recordsOf(t, n, func(ctx context.Context, w *comm.Comm, out *record.Writer) error { return run(ctx, w, some(), out) })
		if len(rs) != 1+2*(len(names())-1) {
			t.Fatalf("%d records: %+v", len(rs), rs)
		}
		for _, r := range rs {
			if r.N != n || len(r.Batches) != 3 || r.Unit != record.Micros || slices.Min(r.Batches) <= 0 {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestEveryOperationThatDoesNotBlock(t *testing.T) {
	for _, n := range []int{1, 3} {
		rs := recordsOf(t, n, func(ctx context.Context, w *comm.Comm, out *record.Writer) error {
			return runOverlap(ctx, w, some(), &overlapTable{out: out})
		})
		if len(rs) != 4*(1+2*(len(names())-1)) {
			t.Fatalf("%d records: %+v", len(rs), rs)
		}
		for i, suffix := range []string{"", "_compute", "_pure", "_overlap"} {
			if want := "ibarrier" + suffix; rs[i].Bench != want || rs[i].N != n {
				t.Errorf("%+v, want %s", rs[i], want)
			}
		}
		for _, r := range rs {
			low, high := 0.0, 100.0
			if r.Unit == record.Micros {
				low, high = 1e-9, 60e6
			}
			if len(r.Batches) != 3 || slices.Min(r.Batches) < low || slices.Max(r.Batches) > high {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestHidden(t *testing.T) {
	for _, c := range []struct{ overall, compute, pure, want float64 }{
		{20, 10, 10, 0},
		{10, 10, 10, 100},
		{15, 10, 10, 50},
		{9, 10, 10, 100}, // faster with communication than without: noise
		{40, 10, 10, 0},
	} {
		if got := hidden([]float64{c.overall}, []float64{c.compute}, []float64{c.pure}); got[0] != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestOverlapTable(t *testing.T) {
	var out strings.Builder
	table := &overlapTable{table: &out}
	for _, o := range []overlap{
		{"iscan", 2, 8, []float64{3, 5}, []float64{2}, []float64{2.5}, []float64{20}},
		{"iscan", 2, 64, []float64{4}, []float64{2}, []float64{2}, []float64{0}},
		{"ibarrier", 2, 0, []float64{1}, []float64{1}, []float64{1}, []float64{100}},
	} {
		if err := table.write(o); err != nil {
			t.Fatal(err)
		}
	}
	const want = `# goulfm iscan, 2 ranks, means of 2 batches
# Size         Overall(us)     Compute(us)  Pure Comm.(us)   Overlap(%)
8                    4.000           2.000           2.500        20.00
64                   4.000           2.000           2.000         0.00

# goulfm ibarrier, 2 ranks, means of 1 batches
# Size         Overall(us)     Compute(us)  Pure Comm.(us)   Overlap(%)
0                    1.000           1.000           1.000       100.00
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func TestWorkIsCalibrated(t *testing.T) {
	k := calibrated()
	if k.perMicro <= 0 || k.steps(0) != 1 || k.steps(1000) <= k.steps(10) {
		t.Errorf("%+v: %d steps in 10 us, %d in 1000", k, k.steps(10), k.steps(1000))
	}
	before := k.state
	if k.do(1); k.state == before {
		t.Error("a step changed nothing")
	}
}

// Nothing that a rank allocates for a size that is left in exceeds the bound.
func TestSizes(t *testing.T) {
	all := []int{8, 1 << 20, 4 << 20}
	for _, c := range []struct {
		op   string
		n    int
		want []int
	}{
		{"barrier", 64, []int{0}},
		{"bcast", 256, all},
		{"allreduce", 256, all},
		{"reduce_scatter", 256, all},
		{"gather", 16, all},
		{"gather", 64, all[:2]}, // with the root's own block the size is larger
		{"allgather", 256, all[:1]},
		{"alltoall", 32, all},
		{"alltoall", 64, all[:2]},
	} {
		if got := find(c.op).sizes(c.n, all); !slices.Equal(got, c.want) {
			t.Errorf("%s with %d ranks: %v, want %v", c.op, c.n, got, c.want)
		}
	}
}

func TestChecksSeeAWrongResult(t *testing.T) {
	if err := sums([]float64{3, 6}, 3, 0); err != nil {
		t.Error(err)
	}
	if sums([]float64{3, 5}, 3, 0) == nil {
		t.Error("a wrong sum was not seen")
	}
	if err := sums([]float64{6, 9}, 3, 1); err != nil {
		t.Error(err)
	}
	if sums([]float64{3}, 3, 1) == nil {
		t.Error("the sum of another element was not seen")
	}
	buf := make([]byte, 8)
	fill(buf[:4], 0)
	fill(buf[4:], 1)
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
	long := make([]byte, 2*1000)
	fill(long[:1000], 7)
	fill(long[1000:], 7)
	same := func(int) int { return 7 }
	if err := parts(long, 1000, same); err != nil {
		t.Error(err)
	}
	for i, b := range long[:1000] {
		if b != value(7, i) {
			t.Fatalf("byte %d was filled with %d", i, b)
		}
	}
	for _, at := range []int{period - 1, period, 999, 1999} {
		long[at]++
		if parts(long, 1000, same) == nil {
			t.Errorf("byte %d was wrong and nobody saw it", at)
		}
		long[at]--
	}
}
