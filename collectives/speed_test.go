package collectives_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
)

// BenchmarkSmall times a call of 8 bytes or none at all ranks together.
func BenchmarkSmall(b *testing.B) {
	calls := map[string]func(ctx context.Context, w *comm.Comm, buf, all []float64) error{
		"barrier": func(ctx context.Context, w *comm.Comm, _, _ []float64) error { return collectives.Barrier(ctx, w) },
		"bcast": func(ctx context.Context, w *comm.Comm, buf, _ []float64) error {
			return collectives.Bcast(ctx, w, 0, buf)
		},
		"allreduce": func(ctx context.Context, w *comm.Comm, buf, _ []float64) error {
			return collectives.Allreduce(ctx, w, buf, buf, collectives.Max)
		},
		"allgather": func(ctx context.Context, w *comm.Comm, buf, all []float64) error {
			return collectives.Allgather(ctx, w, all, buf)
		},
		"alltoall": func(ctx context.Context, w *comm.Comm, _, all []float64) error {
			return collectives.Alltoall(ctx, w, all, all)
		},
	}
	for _, name := range []string{"barrier", "bcast", "allreduce", "allgather", "alltoall"} {
		for _, n := range []int{1, 2, 4, 8, 16, 64} {
			b.Run(fmt.Sprintf("%s/ranks=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				commtest.Run(b, n, func(ctx context.Context, w *comm.Comm) {
					buf, all := make([]float64, 1), make([]float64, n)
					if err := collectives.Barrier(ctx, w); err != nil {
						b.Error(err)
					}
					if w.Rank() == 0 {
						b.ResetTimer()
					}
					for range b.N {
						if err := calls[name](ctx, w, buf, all); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}

// BenchmarkSmallSameThread plays both sides of collectives in which one side runs ahead, a few at a
// time, in one goroutine: the cost of each call by itself, without another processor's cache.
func BenchmarkSmallSameThread(b *testing.B) {
	const ahead = 32
	w := inproc.New(2)
	var worlds [2]*comm.Comm
	for i := range worlds {
		p := engine.New(w.Port(i), engine.Config{SpinPolls: 20, Mutual: true})
		defer p.Close()
		worlds[i] = door.World(p)
	}
	ctx := context.Background()
	dst, src, all := make([]byte, 8), make([]byte, 8), make([]byte, 16)
	for _, op := range []struct {
		name        string
		first, then func() error
	}{
		{"scatter", func() error { return collectives.Scatter(ctx, worlds[0], 0, dst, all) },
			func() error { return collectives.Scatter(ctx, worlds[1], 0, dst, nil) }},
		{"gather", func() error { return collectives.Gather(ctx, worlds[1], 0, nil, src) },
			func() error { return collectives.Gather(ctx, worlds[0], 0, all, src) }},
		{"reduce", func() error { return collectives.Reduce(ctx, worlds[1], 0, nil, src, collectives.Sum) },
			func() error { return collectives.Reduce(ctx, worlds[0], 0, dst, src, collectives.Sum) }},
		{"scan", func() error { return collectives.Scan(ctx, worlds[0], dst, src, collectives.Sum) },
			func() error { return collectives.Scan(ctx, worlds[1], dst, src, collectives.Sum) }},
	} {
		b.Run(op.name, func(b *testing.B) {
			var took [2][]time.Duration
			for b.Loop() {
				for i, do := range []func() error{op.first, op.then} {
					begin := time.Now()
					for range ahead {
						if err := do(); err != nil {
							b.Fatal(err)
						}
					}
					took[i] = append(took[i], time.Since(begin))
				}
			}
			for i, who := range []string{"first", "then"} {
				slices.Sort(took[i])
				b.ReportMetric(float64(took[i][0])/ahead, who+"-min-ns")
				b.ReportMetric(float64(took[i][len(took[i])/2])/ahead, who+"-median-ns")
			}
		})
	}
}
