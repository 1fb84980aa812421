package commtest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
)

// TestShrinkSendsNothing: no survivor of a death and a Shrink sends a message to the launcher. Each
// passes one report of the death to Note, which delays the report until the repair is over.
func TestShrinkSendsNothing(t *testing.T) {
	var mu sync.Mutex
	var sent, noted []rankproto.Message
	to := func(list *[]rankproto.Message) func(int, rankproto.Message) {
		return func(_ int, m rankproto.Message) {
			mu.Lock()
			defer mu.Unlock()
			*list = append(*list, m)
		}
	}
	j := Job{N: 4, Kills: []Killed{{Rank: 0, Mark: "here", At: 1}}, said: to(&sent), noted: to(&noted)}
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		w.Mark("here", 1)
		if err := AwaitFailure(ctx, w, 1); err != nil {
			return err
		}
		shrink := w.Shrink
		if w.Rank() == 1 { // the same call in its other form
			shrink = func(ctx context.Context) (*comm.Comm, error) { return w.Ishrink().Wait(ctx) }
		}
		left, err := shrink(ctx)
		if err != nil {
			return err
		}
		assert.Equal(t, 3, left.Size())
		return nil
	})
	assert.Empty(t, sent)
	drop := rankproto.Drop{Root: 0}
	assert.Equal(t, []rankproto.Message{drop, drop, drop}, noted)
}
