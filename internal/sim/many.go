package sim

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/mono"
)

// Total is the sum of many runs.
type Total struct {
	Runs                                           int
	Agreements, Decisions, Deaths, Revokes, Frames int
	Communicators, Fenced, Messages, Received      int
	Steps, Faults, Crossed, Split, Plain           int
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
	var (
		next  atomic.Uint64
		mutex sync.Mutex
		total Total
		worst *Violation
		over  bool
		group sync.WaitGroup
	)
	for range workers {
		group.Go(func() {
			for {
				mutex.Lock()
				stop := over
				mutex.Unlock()
				if stop {
					return
				}
				run := o
				run.Seed = o.Seed + next.Add(1) - 1
				report, err := Run(run)
				mutex.Lock()
				total.add(report)
				if o.Done != nil {
					o.Done(report)
				}
				if v, failed := errors.AsType[*Violation](err); failed {
					over = true
					if worst == nil || v.Seed < worst.Seed {
						worst = v
					}
				}
				over = over || enough(total)
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	if worst != nil {
		return total, worst
	}
	return total, nil
}
