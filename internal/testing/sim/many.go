package sim

import (
	"sync"

	"github.com/goulfm/goulfm/internal/base/mono"
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

// RunMany carries out runs with seeds o.Seed, o.Seed+1, ... on workers goroutines
// until enough says of the total so far that it is enough, or one fails. Each run
// is single-threaded; which seeds are run may depend on timing only in how far
// the last ones got. The error is the *Violation of the least seed that failed.
func RunMany(o Options, workers int, enough func(Total) bool) (Total, error) {
	return runMany(o.Seed, workers, func(seed uint64) (Report, error) {
		run := o
		run.Seed = seed
		return Run(run)
	}, (*Total).add, o.Done, enough)
}

// runMany carries out runs with the seeds from first on, on workers goroutines, until enough says
// of the total so far that it is enough, or one fails. Done, if it is not nil, is told of each run.
// The error is that of the least seed that failed.
func runMany[R, T any](first uint64, workers int, run func(seed uint64) (R, error), add func(*T, R), done func(R), enough func(T) bool) (total T, err error) {
	err = runSeeds(first, workers, run, func(r R) bool {
		add(&total, r)
		if done != nil {
			done(r)
		}
		return enough(total)
	})
	return total, err
}

// runSeeds carries out runs with the seeds from first on, on workers goroutines, until note says of
// one that it is enough, or one fails. Note is called for one run at a time, in whatever order they
// end. The error is that of the least seed that failed.
func runSeeds[R any](first uint64, workers int, run func(seed uint64) (R, error), note func(R) (enough bool)) error {
	var (
		mutex  sync.Mutex
		next   = first
		worst  error
		failed uint64 // the seed of worst
		over   bool
		group  sync.WaitGroup
	)
	take := func() (seed uint64, ok bool) {
		mutex.Lock()
		defer mutex.Unlock()
		next++
		return next - 1, !over
	}
	settle := func(seed uint64, report R, err error) {
		mutex.Lock()
		defer mutex.Unlock()
		enough := note(report)
		if err != nil && (worst == nil || seed < failed) {
			worst, failed = err, seed
		}
		over = over || worst != nil || enough
	}
	for range workers {
		group.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				report, err := run(seed)
				settle(seed, report, err)
			}
		})
	}
	group.Wait()
	return worst
}
