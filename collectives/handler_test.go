package collectives_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestHandlerOfACollectiveHoldsNothing: the next collective of the same communicator, made in
// another goroutine while the handler runs, and those after its panic, complete as always.
func TestHandlerOfACollectiveHoldsNothing(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		next := func() {
			sum := []int{1}
			assert.NoError(t, collectives.Allreduce(ctx, w, sum, sum, collectives.Sum))
			assert.Equal(t, []int{2}, sum)
		}
		w.SetErrorHandler(func(*comm.Comm, error) error {
			done := make(chan struct{})
			go func() {
				defer close(done)
				next()
			}()
			<-done
			panic("handler")
		})
		broken := collectives.Custom(func(_, _ []int) { w.GetFailed() }, true)
		for _, c := range []struct {
			name string
			call func()
		}{
			{"length", func() { _ = collectives.Allgather(ctx, w, []int{1}, []int{1}) }},
			{"type", func() { _ = collectives.Bcast(ctx, w, 0, []string{""}) }},
			{"operation", func() { _ = collectives.Allreduce(ctx, w, []int{1}, []int{1}, broken) }},
			{"value", func() { _, _ = collectives.GatherValue(ctx, w, 5, 1) }},
			{"not blocking", func() { _ = collectives.Iscan(w, []int{1, 2}, []int{1}, collectives.Sum) }},
		} {
			assert.PanicsWithValue(t, "handler", c.call, c.name)
		}
		w.SetErrorHandler(nil)
		next()
	})
}
