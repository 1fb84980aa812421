package collectives_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
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
