package coll

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// BenchmarkGoroutineRanks times every collective of very many ranks that are goroutines of one
// process, 1 MiB in the longest buffer of a rank, and prints a table. The result of the first call
// of each is checked. The benchmark needs about 5 GB of memory, most of it for rings: each of 256
// ranks has a ring from each other rank.
//
//	go test ./bench/measure/coll -run '^$' -bench GoroutineRanks
func BenchmarkGoroutineRanks(b *testing.B) {
	for range b.N {
		if err := printTable(os.Stdout, goroutineRanks(b, 256, 1<<20)); err != nil {
			b.Error(err)
		}
	}
}

// goroutineRanks measures all collectives in one world: to make a world of so many ranks takes
// longer than most measurements.
func goroutineRanks(t testing.TB, n, total int) (rs []record.Record) {
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		for _, op := range operations() {
			p := plan.Plan{Batches: 2, Iters: 1}
			if op.buffers == nil {
				p.Iters = 200 // the first ones find everything cold, and there is time for more
			}
			r, err := measure(ctx, w, p, op, op.sizeOf(n, total))
			if err != nil {
				t.Errorf("%s at rank %d of %d: %v", op.name, w.Rank(), n, err)
				return
			}
			if w.Rank() == 0 {
				rs = append(rs, r)
			}
		}
	})
	return rs
}

// sizeOf is the size at which the longest buffer of a rank has total bytes: a vector,
// or all blocks together.
func (op operation) sizeOf(n, total int) int {
	switch {
	case op.buffers == nil:
		return 0
	case op.buffers(n, 1) > 2: // the buffer grows with the number of ranks
		return total / n
	}
	return total
}

func printTable(out io.Writer, rs []record.Record) error {
	_, err := fmt.Fprintf(out, "# goulfm, ranks that are goroutines of one process; the faster of the batches\n%-16s %6s %10s %14s\n", "# collective", "ranks", "size", "time (us)")
	for _, r := range rs {
		if err == nil {
			_, err = fmt.Fprintf(out, "%-16s %6d %10d %14.1f\n", r.Bench, r.N, r.Size, r.Summary().Min)
		}
	}
	return err
}

// The benchmark itself, with fewer ranks.
func TestGoroutineRanks(t *testing.T) {
	rs := goroutineRanks(t, 12, 12<<10)
	var out strings.Builder
	if err := printTable(&out, rs); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 2+len(names()) {
		t.Errorf("%d lines:\n%s", lines, out.String())
	}
	sizes := map[string]int{"barrier": 0, "gather": 1 << 10, "scatter": 1 << 10, "allgather": 1 << 10, "alltoall": 1 << 10}
	for i, name := range names() {
		want, other := sizes[name]
		if !other {
			want = 12 << 10
		}
		if r := rs[i]; r.Bench != name || r.N != 12 || r.Size != want || slices.Min(r.Batches) <= 0 {
			t.Errorf("%+v, want %s of %d bytes", r, name, want)
		}
	}
}
