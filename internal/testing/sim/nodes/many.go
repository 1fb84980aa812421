package nodes

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Total is the sum of many runs of nodes.
type Total struct {
	Runs, Agreements, Decisions, Shrinks, Revokes int
	Faults, Deaths, Lost, Wronged                 int
	Freezes, Halts, Thaws, Coordinators, Zombies  int
	Frames, Opened, Broken, Refused               int
	Ended, Stopped, Steps, Events                 int
	Time                                          mono.Duration
}

func (t *Total) add(r Report) {
	t.Runs++
	t.Agreements += r.Agreements
	t.Decisions += r.Decisions
	t.Shrinks += r.Shrinks
	t.Revokes += r.Revokes
	t.Faults += r.Faults
	t.Deaths += r.Deaths
	t.Lost += r.Lost
	t.Wronged += r.Wronged
	t.Freezes += r.Freezes
	t.Halts += r.Halts
	t.Thaws += r.Thaws
	t.Coordinators += r.Coordinators
	t.Zombies += r.Zombies
	t.Frames += r.Frames
	t.Opened += r.Opened
	t.Broken += r.Broken
	t.Refused += r.Refused
	t.Ended += r.Ended
	t.Steps += r.Steps
	t.Events += r.Events
	t.Time += r.Time
	if r.Stopped {
		t.Stopped++
	}
}

// RunMany carries out runs with seeds o.Seed, o.Seed+1, ... on workers goroutines until enough
// accepts the total so far, or a run fails. The error is the *Violation of the least seed that
// failed.
func RunMany(o Options, workers int, enough func(Total) bool) (Total, error) {
	return world.RunMany(o.Seed, workers, func(seed uint64) (Report, error) {
		run := o
		run.Seed = seed
		return Run(run)
	}, (*Total).add, o.Done, enough)
}
