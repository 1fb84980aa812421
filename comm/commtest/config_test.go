package commtest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
)

// TestConfigOfRanks: a run applies the configuration that a program would pass to InitWith.
func TestConfigOfRanks(t *testing.T) {
	for _, uniform := range []bool{false, true} {
		Config{Comm: comm.Config{Uniform: uniform}}.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 2 {
				Kill(w)
			}
			assert.NoError(t, AwaitFailure(ctx, w, 1))
			assert.Equal(t, uniform, w.IsRevoked(), "the first failure revokes in uniform mode alone")
		})
	}
}

// TestConfigMessages: with Messages no communication uses shared memory, even if all ranks are on
// one node and Nodes is nil.
func TestConfigMessages(t *testing.T) {
	for _, messages := range []bool{false, true} {
		Config{Messages: messages}.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			assert.Equal(t, !messages, door.Engine(w).Shared())
			_, err := w.Agree(ctx, 1)
			assert.NoError(t, err)
		})
	}
}

// TestConfigNodes: Nodes has one entry for each rank, also in a run in which a rank dies.
func TestConfigNodes(t *testing.T) {
	body := func(_ context.Context, w *comm.Comm) { assert.Equal(t, []int{0, 1, 0}, door.Engine(w).Nodes()) }
	cfg := Config{Nodes: Nodes{0, 1, 0}}
	cfg.Run(t, 3, body)
	assert.True(t, cfg.RunKilled(t, 3, 1, 1, body))

	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // Fatal ends the goroutine
		defer close(done)
		cfg.Run(r, 2, body)
	}()
	<-done
	assert.Contains(t, r.text.String(), "3 nodes for 2 ranks")
}

// TestConfigLimit: a wait that never ends fails the test at the Limit, is reported, and ends with
// the context.
func TestConfigLimit(t *testing.T) {
	r := &recorder{TB: t}
	var err error
	synctest.Test(t, func(t *testing.T) { // the limit is over when both ranks wait, and no rank is too slow to return
		begun := time.Now()
		Config{Limit: time.Hour}.Run(r, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 0 {
				_, err = comm.Recv(ctx, w.From(1), []int{0}) // rank 1 sends nothing
				return
			}
			<-ctx.Done()
		})
		assert.Equal(t, time.Hour, time.Since(begun))
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Contains(t, r.text.String(), "some ranks have not ended in time")
}
