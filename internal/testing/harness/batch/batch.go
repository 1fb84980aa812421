// Package batch times loops over a communicator: find out how many iterations
// fill a batch, then for each batch barrier, clock, loop, clock. The clock is
// read twice for each batch, never for each message.
package batch

import (
	"context"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
)

// A Loop does its operation iters times. It must not allocate.
type Loop func(ctx context.Context, iters int) error

// Run returns the mean time of an iteration, in seconds, for each batch of the
// plan as this rank saw it. The messages have size bytes. All members call it.
func Run(ctx context.Context, w *comm.Comm, p plan.Plan, size int, loop Loop) ([]float64, error) {
	iters, err := iterations(ctx, w, p, size, loop)
	if err != nil {
		return nil, err
	}
	seconds := make([]float64, p.Batches)
	for b := range seconds {
		took, err := once(ctx, w, loop, iters)
		if err != nil {
			return nil, err
		}
		seconds[b] = took.Seconds() / float64(iters)
	}
	return seconds, nil
}

// Slowest replaces each figure by that of the slowest member.
func Slowest(ctx context.Context, w *comm.Comm, seconds []float64) error {
	return collectives.Allreduce(ctx, w, seconds, seconds, collectives.Max)
}

func once(ctx context.Context, w *comm.Comm, loop Loop, iters int) (time.Duration, error) {
	if err := collectives.Barrier(ctx, w); err != nil {
		return 0, err
	}
	start := time.Now()
	err := loop(ctx, iters)
	return time.Since(start), err
}

// iterations warms up and returns how many iterations a batch has: rank 0's
// clock decides for all.
func iterations(ctx context.Context, w *comm.Comm, p plan.Plan, size int, loop Loop) (int, error) {
	if p.Iters > 0 {
		return p.Iters, loop(ctx, max(1, p.Iters/10))
	}
	if err := loop(ctx, plan.WarmUp(size)); err != nil {
		return 0, err
	}
	for iters := 1; ; {
		took, err := trial(ctx, w, loop, iters)
		if err != nil {
			return 0, err
		}
		next, done := p.Next(iters, took)
		if done {
			return next, nil
		}
		iters = next
	}
}

// trial takes the faster of two runs: one that the machine happened to interrupt
// would make every batch too short to mean something.
func trial(ctx context.Context, w *comm.Comm, loop Loop, iters int) (time.Duration, error) {
	ns := make([]int64, 2)
	for i := range ns {
		took, err := once(ctx, w, loop, iters)
		if err != nil {
			return 0, err
		}
		ns[i] = took.Nanoseconds()
	}
	err := collectives.Bcast(ctx, w, 0, ns)
	return time.Duration(min(ns[0], ns[1])), err
}
