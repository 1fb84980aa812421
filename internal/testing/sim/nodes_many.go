package sim

import "github.com/goulfm/goulfm/internal/base/mono"

// NodeTotal is the sum of many runs of nodes.
type NodeTotal struct {
	Runs, Agreements, Decisions, Shrinks, Revokes int
	Faults, Deaths, Lost, Wronged                 int
	Freezes, Halts, Thaws, Heads, Zombies         int
	Frames, Opened, Broken, Refused               int
	Ended, Stopped, Steps, Events                 int
	Time                                          mono.Duration
}

func (t *NodeTotal) add(r NodeReport) {
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
	t.Heads += r.Heads
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

// RunManyNodes carries out runs with seeds o.Seed, o.Seed+1, ... on workers goroutines until
// enough says of the total so far that it is enough, or one fails. The error is the
// *NodeViolation of the least seed that failed.
func RunManyNodes(o NodeOptions, workers int, enough func(NodeTotal) bool) (NodeTotal, error) {
	return runMany(o.Seed, workers, func(seed uint64) (NodeReport, error) {
		run := o
		run.Seed = seed
		return RunNodes(run)
	}, (*NodeTotal).add, o.Done, enough)
}
