package comm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestSpecR62FinalizeSurvivesADeathAtEveryFrame: commtest finalizes all ranks and reports those
// that do not return.
func TestSpecR62FinalizeSurvivesADeathAtEveryFrame(t *testing.T) {
	for n := 2; n <= 6; n++ {
		for victim := range n {
			for frame := uint64(1); !t.Failed(); frame++ {
				if !commtest.RunKilled(t, n, victim, frame, func(ctx context.Context, w *comm.Comm) {}) {
					break
				}
			}
		}
	}
}

// besideFinalize are the calls that other members may be in while one is in Finalize.
var besideFinalize = map[string]func(ctx context.Context, c *comm.Comm) error{
	"agree":        func(ctx context.Context, c *comm.Comm) error { _, err := c.Agree(ctx, 1); return err },
	"agree_failed": func(ctx context.Context, c *comm.Comm) error { _, err := c.AgreeFailed(ctx); return err },
	"shrink":       func(ctx context.Context, c *comm.Comm) error { _, err := c.Shrink(ctx); return err },
	"dup":          func(ctx context.Context, c *comm.Comm) error { _, err := c.Dup(ctx); return err },
	"split":        func(ctx context.Context, c *comm.Comm) error { _, err := c.Split(ctx, 0, 0); return err },
}

// TestSpecC10FinalizeMeetsOtherCalls: one member is in Finalize, the others in another call, of the
// world or of a communicator made from the world. All get ErrMismatch, and continue. The others
// stay until the first one has its error: commtest ends a rank by Finalize. If all others were in
// that Finalize before the first one had received the mismatch, its Finalize would be a Finalize of
// all, which succeeds.
func TestSpecC10FinalizeMeetsOtherCalls(t *testing.T) {
	for name, call := range besideFinalize {
		for _, onWorld := range []bool{true, false} {
			heard := make(chan struct{})
			commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
				c := w
				if !onWorld {
					var err error
					c, err = w.Dup(ctx)
					assert.NoError(t, err)
				}
				var err error
				if w.Rank() == 0 {
					err = w.Finalize(ctx)
					close(heard)
				} else {
					err = call(ctx, c)
					<-heard
				}
				assert.ErrorIs(t, err, comm.ErrMismatch, "%s, on the world: %v", name, onWorld)
				assert.ErrorContains(t, err, "finalize")
				assert.ErrorContains(t, err, name)
				var e *ulfm.Error
				if assert.ErrorAs(t, err, &e) {
					assert.ElementsMatch(t, []int{0, 1}, e.Ranks)
				}
			})
		}
	}
}

// TestPipelineBreaksWhileOneFinalizes: the second rank of a pipeline dies. The first rank has
// passed on all its data and is in Finalize; the others repair. None of them waits for ever.
func TestPipelineBreaksWhileOneFinalizes(t *testing.T) {
	const steps, last = 10, 5
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		me := w.Rank()
		var err error
		for step := 0; step < steps && err == nil; step++ {
			if me == 1 && step == last {
				commtest.Kill(w)
			}
			if me > 0 {
				_, err = comm.Recv(ctx, w.From(me-1), make([]int, 1))
			}
			if err == nil && me < 3 {
				if send := comm.Isend(w.To(me+1), []int{step}); me > 0 {
					_, err = send.Wait(ctx)
				}
			}
		}
		switch me {
		case 0:
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
			err = w.Finalize(ctx)
		default:
			assert.True(t, ulfm.Recoverable(err), "%v", err)
			_ = w.Revoke()
			_, err = w.Shrink(ctx)
		}
		assert.ErrorIs(t, err, comm.ErrMismatch)
	})
}

// TestSendToARankInFinalize: the sender learns that its message will not be received, whether the
// message is announced before or after the receiver comes to Finalize.
func TestSendToARankInFinalize(t *testing.T) {
	announced := make(chan struct{})
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			<-announced
			_, err := comm.Probe(ctx, w.From(0))
			assert.NoError(t, err)
			return // to Finalize
		}
		early := comm.Isend(w.To(1), make([]int, bulk))
		close(announced)
		_, err := early.Wait(ctx)
		assert.ErrorIs(t, err, comm.ErrFinalized)
		assert.ErrorContains(t, err, "in Finalize")
		assert.ErrorIs(t, comm.Ssend(ctx, w.To(1), []int{1}), comm.ErrFinalized)
	})
}

// TestWaitAfterFinalize: operations that a program has left under way end with Finalize.
func TestWaitAfterFinalize(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		receive := comm.Irecv(w.From(1-w.Rank()), make([]int, 1))
		assert.NoError(t, w.Finalize(ctx))
		_, err := receive.Wait(ctx)
		assert.ErrorIs(t, err, comm.ErrFinalized)
	})
}

// TestAllOK: one member meets an error while others wait for it; all get the same answer.
func TestAllOK(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		ok, err := w.AllOK(ctx, nil)
		assert.True(t, ok)
		assert.NoError(t, err)
		var step error
		if w.Rank() == 2 {
			step = comm.ErrBuffer // of the program's own
		} else {
			_, step = comm.Recv(ctx, w.From(2), make([]int, 1))
			assert.ErrorIs(t, step, ulfm.ErrRevoked)
		}
		ok, err = w.AllOK(ctx, step)
		assert.False(t, ok)
		assert.NoError(t, err, "nobody died")
		next, err := w.Shrink(ctx)
		assert.NoError(t, err)
		if next.Rank() == 3 {
			commtest.Kill(w)
		}
		ok, err = next.AllOK(ctx, nil)
		assert.True(t, ok, "who contributed had no error")
		assert.ErrorIs(t, err, ulfm.ErrProcFailed)
	})
}

// TestWaitForARankInFinalize: a call that waits for a member in Finalize ends with
// ErrFinalized. Messages that the member sent before are received first, also those that it sent in
// the last moment.
func TestWaitForARankInFinalize(t *testing.T) {
	for name, nodes := range map[string]commtest.Nodes{"one node": {0, 0, 0}, "a node for each rank": {0, 1, 2}} {
		t.Run(name, func(t *testing.T) {
			nodes.Run(t, func(ctx context.Context, w *comm.Comm) {
				if w.Rank() == 0 {
					for i := range 10 {
						assert.NoError(t, comm.Send(ctx, w.To(1).Tag(1), []int{i}))
					}
					return // to Finalize
				}
				got := make([]int, 1)
				if w.Rank() == 1 {
					for i := range 10 {
						_, err := comm.Recv(ctx, w.From(0).Tag(1), got)
						assert.NoError(t, err)
						assert.Equal(t, i, got[0])
					}
					_, err := comm.Probe(ctx, w.From(0).Tag(1))
					assert.ErrorIs(t, err, comm.ErrFinalized, "Probe")
				}
				_, err := comm.Recv(ctx, w.From(0).Tag(2), got)
				assert.ErrorIs(t, err, comm.ErrFinalized, "Recv")
				assert.ErrorContains(t, err, "in Finalize")
				if w.Rank() == 1 {
					assert.NoError(t, comm.Send(ctx, w.To(2), []int{7}))
					return
				}
				_, err = comm.Recv(ctx, w.From(comm.Any), got)
				assert.NoError(t, err, "one of the others is not in Finalize")
				assert.Equal(t, 7, got[0])
				_, err = comm.Recv(ctx, w.From(comm.Any), got)
				assert.ErrorIs(t, err, comm.ErrFinalized, "all others are in Finalize")
			})
		})
	}
}
