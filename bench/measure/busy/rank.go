package busy

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// take is the work of a rank: the last rank computes, the others wait for it, and no rank is
// missing then.
func take(ctx context.Context, w *comm.Comm, long time.Duration) error {
	if err := collectives.Barrier(ctx, w); err != nil {
		return err
	}
	last := w.Size() - 1
	sum := []uint64{0}
	if w.Rank() == last {
		sum[0] = compute(long)
	}
	err := collectives.Bcast(ctx, w, last, sum)
	if err == nil {
		_, err = w.Agree(ctx, 1)
	}
	if failed := w.GetFailed(); err != nil || failed.Size() > 0 {
		return trial.Broken("failed %v: %v", failed, err)
	}
	return nil
}

// compute keeps all threads busy, with loops without calls, with one goroutine that has a thread of
// its own, and with garbage that is collected at once.
func compute(long time.Duration) uint64 {
	var over atomic.Bool
	var total atomic.Uint64
	var all sync.WaitGroup
	for i := range runtime.GOMAXPROCS(0) + 1 {
		all.Go(func() {
			if i == 0 {
				runtime.LockOSThread()
			}
			total.Add(spin(&over))
		})
	}
	for end := time.Now().Add(long); time.Now().Before(end); {
		total.Add(uint64(len(litter())))
		runtime.GC()
	}
	over.Store(true)
	all.Wait()
	return total.Load()
}

func spin(over *atomic.Bool) (x uint64) {
	for x = 1; !over.Load(); {
		for range 1 << 27 { // a long time without a call, or a check of over
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
	}
	return x
}

// litter makes many small things that point to each other, for the collector to follow.
func litter() []*[]byte {
	var all []*[]byte
	for range 20_000 {
		b := make([]byte, 64)
		all = append(all, &b)
	}
	return all
}
