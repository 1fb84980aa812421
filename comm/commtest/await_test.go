package commtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
)

// TestAwaitFailure: AwaitFailure returns with the n-th death among the members of a communicator.
// The call returns at once if the deaths are known, when its context ends, and in a rank that is
// dead itself.
func TestAwaitFailure(t *testing.T) {
	heard := make(chan struct{})
	Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		low, err := w.Split(ctx, w.Rank()/2, 0)
		assert.NoError(t, err)
		switch w.Rank() {
		case 3:
			Kill(w)
		case 2:
			<-heard
			Kill(w)
		}
		assert.NoError(t, AwaitFailure(ctx, w, 1))
		_, err = low.Agree(ctx, 0)
		assert.NoError(t, err)
		if w.Rank() == 0 {
			close(heard)
		}
		assert.NoError(t, AwaitFailure(ctx, w, 2))
		assert.ElementsMatch(t, []int{2, 3}, w.FailedRanks())
		over, cancel := context.WithCancel(ctx)
		cancel()
		assert.NoError(t, AwaitFailure(over, w, 2), "they are known")
		assert.ErrorIs(t, AwaitFailure(over, low, 1), context.Canceled, "nobody of it has died")
	})
	RunKilled(t, 2, 1, 1, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_, _ = w.Agree(ctx, 0) // the rank dies in this call
			assert.ErrorIs(t, AwaitFailure(ctx, w, 1), comm.ErrFenced)
		}
	})
}
