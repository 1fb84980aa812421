package recovery_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/recovery"
)

// TestSlicesInHomeAlone: slices of several pieces and of none that have changed, in length too,
// since the last commit are restored at survivors and at the replacement, out of the memory of the
// node. A second repair without a commit in between restores them again, and changes of a slice
// after a commit do not change the committed data.
func TestSlicesInHomeAlone(t *testing.T) {
	const steps, every = 9, 2
	value := func(rank, step int) []byte { // after the given number of steps
		return slices.Repeat([]byte{byte(1 + rank), byte(step)}, 50_000*(step%3))
	}
	job := commtest.Job{N: 3, NodeMemory: true, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: 6}, {Rank: 0, Mark: "restored", At: 2}}}
	restored := 0
	job.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler), Every: every}, func(ctx context.Context, w *recovery.World) error {
			u, kept := value(w.Rank(), 0), []byte{byte(w.Rank())}
			v, err := w.Protect(ctx, recovery.Slice("u", &u), recovery.Slice("kept", &kept, recovery.Forward()))
			if err != nil {
				return err
			}
			if !v.IsZero() {
				done := int(v.Number) * every
				assert.True(t, slices.Equal(value(w.Rank(), done), u), "rank %d has %d bytes after %d steps, attempt %d", w.Rank(), len(u), done, w.Attempt())
				assert.Equal(t, []byte{byte(w.Rank())}, kept)
				if w.Rank() == 2 {
					restored++
				}
			}
			w.Comm().Mark("restored", w.Attempt())
			for step := range w.Steps(ctx, steps) {
				clear(u) // in place
				u = value(w.Rank(), step+1)
			}
			return w.Err()
		})
	})
	assert.Equal(t, 2, restored, "twice")
}
