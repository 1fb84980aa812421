package world

import "sync"

// RunMany executes runs with the seeds first, first+1, ... on workers goroutines, until enough
// accepts the total so far or a run fails. If done is not nil, RunMany calls it for each run. The
// error is that of the least seed that failed.
func RunMany[R, T any](first uint64, workers int, run func(seed uint64) (R, error), add func(*T, R), done func(R), enough func(T) bool) (total T, err error) {
	err = runSeeds(first, workers, run, func(r R) bool {
		add(&total, r)
		if done != nil {
			done(r)
		}
		return enough(total)
	})
	return total, err
}

// runSeeds executes runs with the seeds first, first+1, ... on workers goroutines, until note
// returns true or a run fails. Note is called for one run at a time, in the order in which runs
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
