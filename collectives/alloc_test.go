package collectives_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

var small = map[string]func(ctx context.Context, w *comm.Comm, buf, all []float64) error{
	"barrier": func(ctx context.Context, w *comm.Comm, _, _ []float64) error { return collectives.Barrier(ctx, w) },
	"bcast": func(ctx context.Context, w *comm.Comm, buf, _ []float64) error {
		return collectives.Bcast(ctx, w, 0, buf)
	},
	"reduce": func(ctx context.Context, w *comm.Comm, buf, _ []float64) error {
		return collectives.Reduce(ctx, w, 0, buf, buf, collectives.Min)
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
	"scan": func(ctx context.Context, w *comm.Comm, buf, _ []float64) error {
		return collectives.Scan(ctx, w, buf, buf, collectives.Max)
	},
	"reduce_scatter_block": func(ctx context.Context, w *comm.Comm, buf, all []float64) error {
		return collectives.ReduceScatterBlock(ctx, w, buf, all, collectives.Max)
	},
	"allreduce_one": func(ctx context.Context, w *comm.Comm, _, _ []float64) error {
		_, err := collectives.AllreduceOne(ctx, w, 1.5, collectives.Sum)
		return err
	},
	"bcast_one": func(ctx context.Context, w *comm.Comm, _, _ []float64) error {
		_, err := collectives.BcastOne(ctx, w, 0, 1)
		return err
	},
	"allreduce_options": func(ctx context.Context, w *comm.Comm, buf, _ []float64) error {
		return collectives.Allreduce(ctx, w, buf, buf, collectives.Max, collectives.Algorithm("recursive-doubling"), collectives.Reproducible())
	},
	"iallreduce": func(ctx context.Context, w *comm.Comm, buf, _ []float64) error {
		_, err := collectives.Iallreduce(w, buf, buf, collectives.Max).Wait(ctx)
		return err
	},
}

// TestCallsAllocateNothing measures the calls alone: a world of one.
func TestCallsAllocateNothing(t *testing.T) {
	w, err := comm.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	buf, all := []float64{1}, []float64{0}
	for name, call := range small {
		if per := testing.AllocsPerRun(1000, func() {
			if err := call(t.Context(), w, buf, all); err != nil {
				t.Fatal(err)
			}
		}); per >= 1 && !raced {
			t.Errorf("%s: %v allocations per call", name, per)
		}
	}
	if err := w.Finalize(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestMessagesAllocateNothing measures everything. When the goroutine of a rank blocks, it
// allocates a channel and its place in a list, unlike a process; a rank blocks at most twice in
// these trees of four.
func TestMessagesAllocateNothing(t *testing.T) {
	const n, rounds, perSleep, sleeps = 4, 1000, 3, 2
	for name, call := range small {
		var before, after runtime.MemStats
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			buf, all := []float64{1}, make([]float64, n)
			for i := range 2 * rounds {
				if i == rounds && w.Rank() == 0 {
					runtime.ReadMemStats(&before)
				}
				if err := call(ctx, w, buf, all); err != nil {
					t.Error(err)
					return
				}
			}
			if w.Rank() == 0 {
				runtime.ReadMemStats(&after)
			}
		})
		if per := float64(after.Mallocs-before.Mallocs) / rounds; per > n*perSleep*sleeps && !raced {
			t.Errorf("%s: %.2f allocations per call of %d ranks", name, per, n)
		}
	}
}
