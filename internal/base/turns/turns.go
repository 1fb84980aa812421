// Package turns runs goroutines one after another, in the order in which they ask, for callers that
// hold a mutex of their own and may give up the wait.
package turns

import (
	"context"
	"slices"
	"sync"
)

// A Queue lets one goroutine in at a time. Its zero value is free. The caller's mutex guards it.
type Queue struct {
	taken   bool
	waiting []chan struct{} // oldest first
}

// Take returns once no other goroutine has the turn. The caller holds mu, and does again
// afterwards; Take releases mu while it waits. The only error is that of ctx.
func (q *Queue) Take(ctx context.Context, mu sync.Locker) error {
	if !q.taken {
		q.taken = true
		return nil
	}
	mine := make(chan struct{})
	q.waiting = append(q.waiting, mine)
	mu.Unlock()
	var err error
	select {
	case <-mine:
	case <-ctx.Done():
		err = ctx.Err()
	}
	mu.Lock()
	if err == nil {
		return nil
	}
	if i := slices.Index(q.waiting, mine); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	} else { // the turn has been handed over meanwhile
		q.Give()
	}
	return err
}

// Give hands the turn to the goroutine that has waited longest. The caller has the turn and holds
// the mutex.
func (q *Queue) Give() {
	if len(q.waiting) == 0 {
		q.taken = false
		return
	}
	close(q.waiting[0])
	q.waiting = slices.Delete(q.waiting, 0, 1)
}
