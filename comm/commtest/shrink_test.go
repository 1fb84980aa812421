package commtest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/lifeline"
)

// TestShrinkSendsNothing: between a death and the return of Shrink no survivor sends a message to the launcher.
// What it reports of the dead waits until the repair is over.
func TestShrinkSendsNothing(t *testing.T) {
	var mu sync.Mutex
	var sent, noted []lifeline.Message
	to := func(list *[]lifeline.Message) func(int, lifeline.Message) {
		return func(_ int, m lifeline.Message) {
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
	drop := lifeline.Drop{Root: 0}
	assert.Equal(t, []lifeline.Message{drop, drop, drop}, noted)
}
