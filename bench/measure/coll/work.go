package coll

import (
	"context"
	"time"
)

// work is a computation that takes as long as it is told to.
type work struct {
	perMicro float64 // steps in a microsecond
	state    uint64  // each step needs that of the one before
}

// How work is calibrated: the fastest of some trials, since whatever else runs only
// slows them.
const (
	trials     = 50
	trialSteps = 1 << 15
)

// calibrated measures how fast this rank works when it has a core.
func calibrated() *work {
	k := &work{state: 1}
	best := time.Duration(1<<63 - 1)
	for range trials {
		start := time.Now()
		k.do(trialSteps)
		best = min(best, time.Since(start))
	}
	k.perMicro = trialSteps / (max(best, 1).Seconds() * 1e6)
	return k
}

// steps is how many take that long: at least one.
func (k *work) steps(us float64) int { return max(1, int(us*k.perMicro)) }

// do works: a generator of random numbers, whose steps no compiler can skip.
func (k *work) do(steps int) {
	x := k.state
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	k.state = x
}

// loop is work alone.
func (k *work) loop(steps int) func(ctx context.Context, iters int) error {
	return func(_ context.Context, iters int) error {
		for range iters {
			k.do(steps)
		}
		return nil
	}
}
