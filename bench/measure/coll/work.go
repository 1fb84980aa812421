package coll

import (
	"context"
	"time"
)

// work is a computation with a given duration.
type work struct {
	perMicro float64 // steps in a microsecond
	state    uint64  // each step needs the state of the previous one
}

// The calibration of work uses the fastest of some trials, since other programs only slow a trial.
const (
	trials     = 50
	trialSteps = 1 << 15
)

// calibrated measures the speed of this rank while it has a core.
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

// steps is how many steps take that long: at least one.
func (k *work) steps(us float64) int { return max(1, int(us*k.perMicro)) }

// do works: it runs a generator of random numbers, of which no compiler can skip a step.
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
