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

// TestCreate: others change the program's own memory, which stays in place. A Rebuild keeps the
// memory, also when the old window is freed.
func TestCreate(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, c *comm.Comm) {
		mem := make([]int64, 4+c.Rank())
		w, err := rma.Create(ctx, c, mem, rma.Notifications(1))
		assert.NoError(t, err)
		assert.Same(t, &mem[0], &w.Local()[0])
		next := (c.Rank() + 1) % 3
		assert.Equal(t, 4+next, w.Len(next))
		assert.NoError(t, w.At(next).PutNotify(ctx, 1, []int64{int64(c.Rank()), 8}, 0))
		assert.NoError(t, w.WaitNotify(ctx, 0, 1))
		assert.Equal(t, []int64{0, int64((c.Rank() + 2) % 3), 8}, mem[:3])
		_, err = w.Slice(next)
		wants(t, err, comm.ErrUnsupported, "slice", next)
		v, err := rma.Rebuild(ctx, c, w)
		assert.NoError(t, err)
		assert.NoError(t, w.Free())
		assert.NoError(t, v.At(next).Store(ctx, 3, 5))
		assert.NoError(t, v.Fence(ctx))
		assert.Equal(t, int64(5), mem[3])
		assert.NoError(t, v.Free())
	})
}

// TestCreateErrors: all make a window of their own memory, or none does; numbers are at addresses
// at which they can be changed atomically.
func TestCreateErrors(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) {
		var err error
		if c.Rank() == 0 {
			_, err = rma.Allocate[int64](ctx, c, 1)
		} else {
			_, err = rma.Create(ctx, c, make([]int64, 1))
		}
		assert.ErrorIs(t, err, comm.ErrMismatch)

		words := own[uint16](8)
		for what, mem := range map[string][]uint16{"not whole words": words[:3], "begins inside of one": words[1:3]} {
			if c.Rank() == 0 {
				_, err = rma.Create(ctx, c, mem)
				wants(t, err, comm.ErrArgument, "create")
			} else {
				_, err = rma.Create(ctx, c, words)
				wants(t, err, comm.ErrPeerArgument, "create", 0)
			}
			assert.Error(t, err, what)
		}
		w, err := rma.Create(ctx, c, words[:0])
		assert.NoError(t, err)
		assert.Equal(t, 0, w.Len(1))
		assert.NoError(t, w.Free())
		_, err = rma.Create(ctx, c, []string{""})
		assert.ErrorIs(t, err, comm.ErrType)
	})
}

// TestHeirs: the heir of a dead rank is one that shares its memory, if one is left.
func TestHeirs(t *testing.T) {
	commtest.Nodes{0, 0, 1, 0, 2}.Run(t, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		fence(ctx, t, w)
		if c.Rank() == 1 || c.Rank() == 2 {
			commtest.Kill(c)
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, c, 2))
		left, err := c.Shrink(ctx)
		assert.NoError(t, err)
		heirs, err := rma.Heirs(ctx, left, w, []int{1, 2})
		assert.NoError(t, err)
		assert.Equal(t, []int{1, comm.Undefined}, heirs, "rank 3 was, and is 1 of those who are left")
		none, err := rma.Heirs(ctx, left, w, nil)
		assert.NoError(t, err)
		assert.Empty(t, none)
		had := w
		if left.Rank() == 2 {
			had = nil // a new member: without the window it does not know the ranks
		}
		_, err = rma.Heirs(ctx, left, had, []int{1, 5})
		wants(t, err, comm.ErrRank, "heirs")
		_, err = rma.Heirs(ctx, nil, w, []int{1})
		wants(t, err, comm.ErrArgument, "heirs")
		var o []rma.Option
		if heirs[0] == left.Rank() {
			o = append(o, rma.Inherit(1))
		}
		v, err := rma.Rebuild(ctx, left, w, o...)
		assert.NoError(t, err)
		assert.NoError(t, v.Free())
		assert.NoError(t, w.Free())
	})
}

// TestLong: operations of more than one frame, and of more frames than are sent ahead.
func TestLong(t *testing.T) {
	const n = 100_000
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int64](ctx, t, c, n)
		peer, src, got := w.At(1-c.Rank()), make([]int64, n), make([]int64, n)
		for i := range src {
			src[i] = int64(i * (1 + c.Rank()))
		}
		assert.NoError(t, peer.Put(ctx, 0, src))
		assert.NoError(t, peer.Accumulate(ctx, 0, src, collectives.Sum))
		assert.NoError(t, peer.Get(ctx, 0, got))
		for i := range src {
			src[i] *= 2
		}
		assert.Equal(t, src, got)
		assert.NoError(t, peer.GetAccumulate(ctx, 1, make([]int64, n-1), got[1:], collectives.Max))
		assert.Equal(t, src, got)
		_, err := peer.FetchAndOp(ctx, 7, 5, collectives.Replace)
		assert.NoError(t, err)
		v, err := peer.Load(ctx, 7)
		assert.NoError(t, err)
		assert.Equal(t, int64(5), v)
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}
