package rma_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

// TestView: elements of several types in one window, whose lock, counters and end are those of the
// window.
func TestView(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		w := allocate[byte](ctx, t, c, 100+c.Rank(), rma.Notifications(1))
		peer := (c.Rank() + 1) % 3
		words, err := rma.View[uint64](w, 8, 3)
		assert.NoError(t, err)
		small, err := rma.View[int16](words, 8, 4) // bytes 16 to 24 of w
		assert.NoError(t, err)
		assert.Equal(t, 3, words.Len(peer))
		assert.NoError(t, words.At(peer).Put(ctx, 0, []uint64{1, 2, 3}))
		assert.NoError(t, w.Fence(ctx))
		assert.Equal(t, []uint64{1, 2, 3}, words.Local())
		assert.Equal(t, []byte{0, 1, 0}, w.Local()[7:10])
		assert.NoError(t, words.Fence(ctx))
		_, err = small.At(peer).FetchAndOp(ctx, 1, 1, collectives.Sum)
		assert.NoError(t, err)
		assert.NoError(t, words.At(peer).PutNotify(ctx, 2, []uint64{9}, 0))
		assert.NoError(t, w.WaitNotify(ctx, 0, 1, (c.Rank()+2)%3))
		assert.NoError(t, w.Fence(ctx))
		assert.Equal(t, []uint64{1, 2 + 1<<16, 9}, words.Local())
		wants(t, words.At(peer).Put(ctx, 3, []uint64{1}), rma.ErrBounds, "put", peer)

		if c.Rank() == 0 {
			assert.NoError(t, small.At(1).Lock(ctx, rma.LockExclusive))
			over, cancel := context.WithCancel(ctx)
			cancel()
			assert.ErrorIs(t, w.At(1).Lock(over, rma.LockExclusive), context.Canceled, "it is the same lock")
			assert.NoError(t, w.At(1).Unlock(ctx))
		}
		assert.NoError(t, w.Fence(ctx))
		_, err = rma.View[uint64](w, 4, 1)
		wants(t, err, comm.ErrArgument, "view")
		_, err = rma.View[uint64](w, -8, 1)
		wants(t, err, rma.ErrBounds, "view", 0)
		_, err = rma.View[byte](w, 0, 101)
		wants(t, err, rma.ErrBounds, "view", 0)
		_, err = rma.View[byte](w, 1<<62, 1)
		wants(t, err, rma.ErrBounds, "view", 0)
		_, err = rma.View[string](w, 0, 1)
		wants(t, err, comm.ErrType, "view")
		_, err = rma.View[byte](w, 0, -1)
		wants(t, err, comm.ErrArgument, "view")
		_, err = rma.Rebuild(ctx, c, words)
		wants(t, err, comm.ErrArgument, "rebuild")
		wants(t, words.Free(), comm.ErrArgument, "free")
		assert.NoError(t, w.Free())
		wants(t, words.At(peer).Put(ctx, 0, []uint64{1}), comm.ErrFreed, "put")
		wants(t, small.Fence(ctx), comm.ErrFreed, "fence")
		assert.Empty(t, words.Local())
		_, err = rma.View[byte](w, 0, 1)
		wants(t, err, comm.ErrFreed, "view")
	})
}
