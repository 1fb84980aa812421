// Package ctxwatch tells callers that poll memory whether their context is over, without a channel
// operation for each poll.
package ctxwatch

import (
	"context"
	"sync/atomic"
)

// A Watch is the single watcher of the context on which the leader of a process waits. The watch is
// kept for the next call with the same context, so a call that waits does not make one each time.
// One goroutine uses it at a time.
type Watch struct {
	// Wake is called when the context is over, from any goroutine: the caller may sleep. It is set
	// before the first call of Of.
	Wake  func()
	done  <-chan struct{}
	fired *atomic.Bool
	stop  func() bool
}

// Of returns a word that becomes true when ctx is over; nil: never.
func (w *Watch) Of(ctx context.Context) *atomic.Bool {
	done := ctx.Done()
	if done == nil {
		return nil
	}
	if w.done != done {
		if w.stop != nil {
			w.stop()
		}
		fired := new(atomic.Bool)
		w.done, w.fired, w.stop = done, fired, context.AfterFunc(ctx, func() {
			fired.Store(true)
			w.Wake()
		})
	}
	return w.fired
}
