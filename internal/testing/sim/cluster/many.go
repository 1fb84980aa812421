package cluster

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Total is the sum of many runs.
type Total struct {
	Runs                                           int
	Agreements, Decisions, Deaths, Revokes, Frames int
	Communicators, Fenced, Messages, Received      int
	Steps, Faults, Crossed, Split, Plain           int
	Long, TakenBack                                int
	Time                                           mono.Duration
	Matrix                                         Matrix
}

func (t *Total) add(r Report) {
	t.Runs++
	t.Agreements += r.Agreements
	t.Decisions += r.Decisions
	t.Deaths += r.Deaths
	t.Revokes += r.Revokes
	t.Frames += r.Frames
	t.Communicators += r.Communicators
	t.Fenced += r.Fenced
	t.Messages += r.Messages
	t.Received += r.Received
	t.Long += r.Long
	t.TakenBack += r.TakenBack
	t.Steps += r.Steps
	t.Faults += r.Faults
	t.Plain += r.Plain
	t.Time += r.Time
	if r.Crossed {
		t.Crossed++
	}
	if r.Split {
		t.Split++
	}
	t.Matrix.add(r.Matrix)
}

// RunMany carries out runs with seeds o.Seed, o.Seed+1, ... on workers goroutines until enough
// accepts the total so far, or a run fails. Each run is single-threaded. Timing affects only how
// far the last seeds got. The error is the *Violation of the least seed that failed.
func RunMany(o Options, workers int, enough func(Total) bool) (Total, error) {
	return world.RunMany(o.Seed, workers, func(seed uint64) (Report, error) {
		run := o
		run.Seed = seed
		return Run(run)
	}, (*Total).add, o.Done, enough)
}
