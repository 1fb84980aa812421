package collectives_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestCollectivesOfSeveralGoroutinesOnOneCommunicator: goroutines of each rank make the same
// collective on one communicator at once, by memory and by messages. Calls are numbered, so a
// goroutine may match any goroutine of another rank.
func TestCollectivesOfSeveralGoroutinesOnOneCommunicator(t *testing.T) {
	for _, how := range []string{"memory", "ring"} {
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					for range 300 {
						sum := []int{w.Rank() + 1}
						if !assert.NoError(t, collectives.Allreduce(ctx, w, sum, sum, collectives.Sum, collectives.Algorithm(how)), how) {
							return
						}
						assert.Equal(t, 6, sum[0], how)
					}
				})
			}
			all.Wait()
		})
	}
}

// TestDifferentCollectivesOfGoroutines: if goroutines make different collectives at once the
// program must order them. If ranks make them in different orders at least one rank gets an error
// for that; the others may get a revocation.
func TestDifferentCollectivesOfGoroutines(t *testing.T) {
	var told atomic.Int32
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		calls := []func() error{
			func() error { return collectives.Barrier(ctx, w) },
			func() error { return collectives.Bcast(ctx, w, 0, make([]int, 1)) },
		}
		first := make(chan error)
		go func() { first <- calls[w.Rank()]() }()
		errs := []error{calls[1-w.Rank()](), <-first}
		for _, err := range errs {
			switch {
			case errors.Is(err, comm.ErrMismatch):
				told.Add(4) // more than all the others
			case err != nil:
				assert.ErrorIs(t, err, ulfm.ErrRevoked)
				told.Add(1)
			}
		}
	})
	assert.True(t, told.Load() == 0 || told.Load() >= 4, "errors, and none says that the calls differ")
}
