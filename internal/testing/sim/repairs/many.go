package repairs

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Total is the sum of many runs of repairs.
type Total struct {
	Runs, Repairs, Deaths           int
	Started, Reused, Refused        int
	Commits, Restored, Rebuilt      int
	Inherited, NodesLost            int
	Restoring                       int // deaths while a repair restores
	Saves, Shrunk, Orphans, Again   int
	Files                           FileCounts
	Silent                          SilentCounts
	Steps, Events                   int
	Time                            mono.Duration
	Done, Stopped, Peer, TooFew, No int // runs by their end; No: all have died, or any other end
}

func (t *Total) add(r Report) {
	t.Runs++
	t.Repairs += r.Repairs
	t.Deaths += r.Deaths
	t.Started += r.Started
	t.Reused += r.Reused
	t.Refused += r.Refused
	t.Commits += r.Commits
	t.Restored += r.Restored
	t.Rebuilt += r.Rebuilt
	t.Inherited += r.Inherited
	t.NodesLost += r.NodesLost
	t.Restoring += r.Restoring
	t.Saves += r.Saves
	t.Files.add(r.Files)
	t.Silent.add(r.Silent)
	t.Shrunk += r.Shrunk
	t.Orphans += r.Orphans
	t.Again += r.Again
	t.Steps += r.Steps
	t.Events += r.Events
	t.Time += r.Time
	switch r.Ending {
	case "done":
		t.Done++
	case "stopped":
		t.Stopped++
	case "peer":
		t.Peer++
	case "too few":
		t.TooFew++
	default:
		t.No++
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
