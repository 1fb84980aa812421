package rma_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/rma"
)

// neighbours are the two ranks next to a rank on a ring, as a group.
func neighbours(c *comm.Comm) comm.Group {
	n := c.Size()
	return must(c.Group().Incl((c.Rank()+1)%n, (c.Rank()+n-1)%n))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestPostStart: each step a member has the values of both neighbours of that step.
func TestPostStart(t *testing.T) {
	const n = 4
	run(t, n, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 2)
		g, right, left := neighbours(c), (c.Rank()+1)%n, (c.Rank()+n-1)%n
		for step := range 50 {
			assert.NoError(t, w.Post(ctx, g))
			assert.NoError(t, w.Start(ctx, g))
			assert.NoError(t, w.At(right).Put(ctx, 0, []int{100*step + c.Rank()}))
			assert.NoError(t, w.At(left).Put(ctx, 1, []int{100*step + c.Rank()}))
			assert.NoError(t, w.Complete(ctx))
			if step%2 == 0 {
				assert.NoError(t, w.WaitPosted(ctx))
			} else {
				for over := false; !over; {
					var err error
					over, err = w.TestPosted()
					assert.NoError(t, err)
					yield()
				}
			}
			assert.Equal(t, []int{100*step + left, 100*step + right}, w.Local())
		}
		wants(t, w.Complete(ctx), rma.ErrNotHeld, "complete")
		wants(t, w.WaitPosted(ctx), rma.ErrNotHeld, "wait_posted")
		_, err := w.TestPosted()
		wants(t, err, rma.ErrNotHeld, "test_posted")
		assert.NoError(t, w.Post(ctx, comm.Group{}))
		wants(t, w.Post(ctx, comm.Group{}), comm.ErrArgument, "post")
		assert.NoError(t, w.WaitPosted(ctx))
		assert.NoError(t, w.Start(ctx, comm.Group{}))
		wants(t, w.Start(ctx, comm.Group{}), comm.ErrArgument, "start")
		assert.NoError(t, w.Complete(ctx))
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

// TestSpecW16EpochsWithTheDead: the dead are named after all others have come, and the epoch is
// over.
func TestSpecW16EpochsWithTheDead(t *testing.T) {
	run(t, 4, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 2)
		others := must(c.Group().Incl(0, 1, 3))
		target := must(c.Group().Incl(2))
		if c.Rank() == 3 {
			assert.NoError(t, w.Start(ctx, target))
			commtest.Kill(c)
		}
		if c.Rank() == 2 {
			assert.NoError(t, w.Post(ctx, others))
			wants(t, w.WaitPosted(ctx), comm.ErrProcFailed, "wait_posted", 3)
			assert.Equal(t, []int{5, 6}, w.Local(), "the living have completed")
			wants(t, w.WaitPosted(ctx), rma.ErrNotHeld, "wait_posted")
		} else {
			assert.NoError(t, w.Start(ctx, target))
			assert.NoError(t, w.At(2).Put(ctx, c.Rank(), []int{5 + c.Rank()}))
			assert.NoError(t, commtest.AwaitFailure(ctx, c, 1))
			assert.NoError(t, w.Complete(ctx))
			err := w.Start(ctx, must(c.Group().Incl(3)))
			wants(t, err, comm.ErrProcFailed, "start", 3)
			assert.NoError(t, w.Complete(ctx), "nobody is left in it")
		}
		_, _ = w.Comm().Agree(ctx, 1)
		assert.NoError(t, w.Free())
	})
}

// TestNotifications: each that is counted implies its data.
func TestNotifications(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 200, rma.Notifications(2))
		if c.Rank() > 0 {
			for i := range 100 {
				assert.NoError(t, w.At(0).PutNotify(ctx, 2*i+c.Rank()-1, []int{i + 1}, c.Rank()-1))
			}
		} else {
			for i := range 100 {
				assert.NoError(t, w.WaitNotify(ctx, i%2, uint64(i+1), i%2+1))
				got := w.Local()[2*i+i%2]
				assert.Equal(t, i+1, got)
			}
		}
		assert.NoError(t, w.Fence(ctx))
		wants(t, w.At(1).Notify(ctx, 2), rma.ErrBounds, "notify", 1)
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

// TestPostedWhenTheWindowIsOver: the end of a Post on a revoked window reports the revocation
// before the dead, and on a freed window touches no memory.
func TestPostedWhenTheWindowIsOver(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		assert.NoError(t, w.Post(ctx, must(c.Group().Incl(2))))
		fence(ctx, t, w)
		if c.Rank() == 2 {
			commtest.Kill(c)
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, w.Comm(), 1))
		assert.NoError(t, w.Revoke())
		_, err := w.TestPosted()
		wants(t, err, comm.ErrRevoked, "test_posted")
		wants(t, w.WaitPosted(ctx), comm.ErrRevoked, "wait_posted")
		assert.NoError(t, w.Free())
		_, err = w.TestPosted()
		wants(t, err, comm.ErrFreed, "test_posted")
		wants(t, w.WaitPosted(ctx), comm.ErrFreed, "wait_posted")
	})
}

// TestCompleteOnARevokedWindow: puts on a revoked window are refused, so its Complete counts at no
// target (W19).
func TestCompleteOnARevokedWindow(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		if c.Rank() == 1 {
			assert.NoError(t, w.Post(ctx, must(c.Group().Incl(0))))
			wants(t, w.WaitPosted(ctx), comm.ErrRevoked, "wait_posted")
			assert.Zero(t, w.Local()[0])
		} else {
			assert.NoError(t, w.Start(ctx, must(c.Group().Incl(1))))
			assert.NoError(t, w.Revoke())
			wants(t, w.At(1).Put(ctx, 0, []int{1}), comm.ErrRevoked, "put")
			wants(t, w.Complete(ctx), comm.ErrRevoked, "complete")
		}
		assert.NoError(t, w.Free())
	})
}

// TestEpochsWithoutRoom: a context ends while there is no room for the frame that ends or begins an
// epoch at a member on another node. The call returns the error of the context, and no frame is
// lost: the next call of the epoch sends the frame. The calls returned nil, and the other member
// waited for ever.
//
// The other member reads in the background, so there may be room again by the time of the call.
// Then the epoch is an ordinary one, and the next one tries again.
func TestEpochsWithoutRoom(t *testing.T) {
	commtest.Nodes{0, 1}.Run(t, func(ctx context.Context, c *comm.Comm) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		block := make([]int, 1<<10)
		w := allocate[int](ctx, t, c, len(block))
		other := must(c.Group().Incl(1 - c.Rank()))
		fill := func() {
			for _, data := range [][]int{block, block[:1]} {
				for w.At(1).Put(ended, 0, data) == nil {
				}
			}
		}
		for completed, posted := false, false; !completed || !posted; {
			if c.Rank() == 1 {
				assert.NoError(t, w.Post(ctx, other))
				assert.NoError(t, w.WaitPosted(ctx))
				assert.NoError(t, w.Start(ctx, other))
				assert.NoError(t, w.Complete(ctx))
			} else {
				assert.NoError(t, w.Start(ctx, other))
				fill()
				if err := w.Complete(ended); err != nil {
					assert.ErrorIs(t, err, context.Canceled)
					assert.NoError(t, w.Complete(ctx))
					completed = true
				}
				fill()
				if err := w.Post(ended, other); err != nil {
					assert.ErrorIs(t, err, context.Canceled)
					wants(t, w.Post(ctx, other), comm.ErrArgument, "post")
					posted = true
				}
				assert.NoError(t, w.WaitPosted(ctx))
			}
			both := []bool{completed, posted}
			assert.NoError(t, collectives.Bcast(ctx, c, 0, both))
			completed, posted = both[0], both[1]
		}
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}
