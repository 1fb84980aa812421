package collectives_test

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/transport/inproc"
)

// TestSmallCollectivesAllocateNothing, but for what the runtime does meanwhile:
// less than one allocation in three calls of two ranks together. The ranks never
// sleep, because the sleep of goroutine ranks allocates a channel (that of
// processes does not).
func TestSmallCollectivesAllocateNothing(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("two ranks that never sleep need two cores")
	}
	const rounds = 100 // few: on a busy machine each may cost a time slice
	world := inproc.New(2)
	var ws []*comm.Comm
	for me := range 2 {
		ws = append(ws, comm.NewWorld(engine.New(world.Port(me), engine.Config{SpinPolls: math.MaxInt})))
		defer ws[me].Engine().Proc().Close()
	}
	for name, call := range map[string]func(ctx context.Context, w *comm.Comm, buf []float64) error{
		"barrier": func(ctx context.Context, w *comm.Comm, _ []float64) error { return collectives.Barrier(ctx, w) },
		"allreduce": func(ctx context.Context, w *comm.Comm, buf []float64) error {
			return collectives.Allreduce(ctx, w, buf, buf, collectives.Max)
		},
		"allgather": func(ctx context.Context, w *comm.Comm, buf []float64) error {
			return collectives.Allgather(ctx, w, buf, buf[w.Rank():w.Rank()+1])
		},
	} {
		together := func() {
			var wg sync.WaitGroup
			for _, w := range ws {
				wg.Go(func() {
					buf := []float64{1, 2}
					for range rounds {
						if err := call(t.Context(), w, buf); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		}
		var before, after runtime.MemStats
		together() // buffers grow to what they need
		runtime.ReadMemStats(&before)
		together()
		runtime.ReadMemStats(&after)
		if per := float64(after.Mallocs-before.Mallocs) / rounds; per > 0.3 {
			t.Errorf("%s: %v allocations per call", name, per)
		}
	}
}
