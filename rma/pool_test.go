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

// newPool makes a pool, or fails the test.
func newPool(ctx context.Context, t *testing.T, c *comm.Comm, bytes int) *rma.Pool {
	t.Helper()
	p, err := rma.NewPool(ctx, c, bytes)
	if !assert.NoError(t, err) {
		panic("no pool")
	}
	return p
}

// node is an element of a list that spans all members.
type node struct {
	Value int64
	Next  rma.Ref[node]
}

// TestPoolList: each member pushes to one list, whose head is a Ref under a lock; all walk along
// it.
func TestPoolList(t *testing.T) {
	const each = 20
	run(t, 4, func(ctx context.Context, c *comm.Comm) {
		p, head := newPool(ctx, t, c, 1<<16), allocate[rma.Ref[node]](ctx, t, c, 1)
		at := head.At(0)
		for i := range each {
			ref, err := rma.Grow[node](ctx, p, 1)
			assert.NoError(t, err)
			assert.NoError(t, at.Lock(ctx, rma.LockExclusive))
			first := make([]rma.Ref[node], 1)
			assert.NoError(t, at.Get(ctx, 0, first))
			own, err := rma.Own(ctx, p, ref)
			assert.NoError(t, err)
			own[0] = node{int64(c.Rank()*each + i), first[0]}
			assert.NoError(t, at.Put(ctx, 0, []rma.Ref[node]{ref}))
			assert.NoError(t, at.Unlock(ctx))
		}
		assert.NoError(t, p.Fence(ctx))
		seen := map[int64]bool{}
		next := make([]rma.Ref[node], 1)
		assert.NoError(t, at.Get(ctx, 0, next))
		for next[0].Generation != 0 {
			target, err := rma.Deref(ctx, p, next[0])
			if !assert.NoError(t, err) {
				break
			}
			n := make([]node, 1)
			assert.NoError(t, target.Get(ctx, 0, n))
			wants(t, target.Get(ctx, 1, n), rma.ErrBounds, "get", int(next[0].Rank))
			seen[n[0].Value], next[0] = true, n[0].Next
		}
		assert.Len(t, seen, 4*each)
		assert.NoError(t, p.Fence(ctx))
		assert.NoError(t, head.Free())
		assert.NoError(t, p.Free())
	})
}

// TestPoolStale: a reference to a detached object is an error, also when there is another object in
// its place; memory is reused after a Fence, and not before.
func TestPoolStale(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		p := newPool(ctx, t, c, 4096)
		peer := 1 - c.Rank()
		swap := func(ref rma.Ref[int64]) rma.Ref[int64] {
			got := make([]rma.Ref[int64], 2)
			assert.NoError(t, collectives.Allgather(ctx, c, got, []rma.Ref[int64]{ref}))
			return got[peer]
		}
		big, err := rma.Grow[int64](ctx, p, 400)
		assert.NoError(t, err)
		theirs := swap(big)
		target, err := rma.Deref(ctx, p, theirs)
		assert.NoError(t, err)
		assert.NoError(t, target.Put(ctx, 399, []int64{7}))
		assert.NoError(t, p.Fence(ctx))
		own, err := rma.Own(ctx, p, big)
		assert.NoError(t, err)
		assert.Equal(t, int64(7), own[399])
		_, err = rma.Grow[int64](ctx, p, 400)
		wants(t, err, comm.ErrNoRoom, "grow")
		wants(t, rma.Detach(ctx, p, theirs), comm.ErrRank, "detach", peer)
		assert.NoError(t, rma.Detach(ctx, p, big))
		wants(t, rma.Detach(ctx, p, big), rma.ErrStale, "detach", c.Rank())
		_, err = rma.Grow[int64](ctx, p, 400)
		wants(t, err, comm.ErrNoRoom, "grow")
		assert.NoError(t, p.Fence(ctx))
		_, err = rma.Deref(ctx, p, theirs)
		wants(t, err, rma.ErrStale, "deref", peer)
		again, err := rma.Grow[int64](ctx, p, 400)
		assert.NoError(t, err)
		own, err = rma.Own(ctx, p, again)
		assert.NoError(t, err)
		assert.Equal(t, make([]int64, 400), own, "zeroed")
		newer := swap(again)
		assert.Equal(t, theirs.Offset, newer.Offset, "in its place")
		_, err = rma.Deref(ctx, p, theirs)
		wants(t, err, rma.ErrStale, "deref", peer)
		_, err = rma.Deref(ctx, p, rma.Ref[float64](newer))
		wants(t, err, comm.ErrType, "deref", peer)
		for _, wrong := range []rma.Ref[int64]{
			{}, {Rank: int32(peer), Slot: -1, Generation: 1}, {Rank: int32(peer), Slot: 1 << 30, Generation: 1}, {Rank: int32(peer), Slot: newer.Slot, Generation: 9},
		} {
			_, err = rma.Deref(ctx, p, wrong)
			assert.ErrorIs(t, err, rma.ErrStale)
		}
		_, err = rma.Deref(ctx, p, rma.Ref[int64]{Rank: 2, Generation: 1})
		wants(t, err, comm.ErrRank, "load")
		far := newer
		far.Len = 1 << 62
		_, err = rma.Deref(ctx, p, far)
		wants(t, err, rma.ErrBounds, "deref", peer)
		far.Len, far.Offset = 10, 1<<20
		_, err = rma.Deref(ctx, p, far)
		wants(t, err, rma.ErrBounds, "view", 0)
		far.Offset = 0 // the slots
		_, err = rma.Deref(ctx, p, far)
		wants(t, err, rma.ErrBounds, "deref", peer)
		_, err = rma.Grow[string](ctx, p, 1)
		wants(t, err, comm.ErrType, "grow")
		_, err = rma.Grow[int](ctx, p, -1)
		wants(t, err, comm.ErrArgument, "grow")
		_, err = rma.Own(ctx, p, newer)
		wants(t, err, comm.ErrRank, "own", peer)
		assert.NoError(t, p.Fence(ctx))
		assert.NoError(t, p.Free())
		_, err = rma.Grow[int](ctx, p, 1)
		wants(t, err, comm.ErrFreed, "store")
	})
}

// TestPoolOfTheDead: a reference to an object of a dead member is an error, and the object can be
// salvaged; the memory of detached objects is not reused after a failed fence.
func TestPoolOfTheDead(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		p := newPool(ctx, t, c, 1024)
		ref, err := rma.Grow[int64](ctx, p, 100)
		assert.NoError(t, err)
		own, err := rma.Own(ctx, p, ref)
		assert.NoError(t, err)
		own[99] = int64(c.Rank())
		all := make([]rma.Ref[int64], 3)
		assert.NoError(t, collectives.Allgather(ctx, c, all, []rma.Ref[int64]{ref}))
		_, _ = c.Agree(ctx, 1) // no rank is in the fence when one is killed
		if c.Rank() == 2 {
			commtest.Kill(c)
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, c, 1))
		_, err = rma.Deref(ctx, p, all[2])
		wants(t, err, comm.ErrProcFailed, "load", 2)
		left := make([]int64, 100)
		if err := rma.SalvageObject(p, all[2], left); err == nil {
			assert.Equal(t, int64(2), left[99])
		} else {
			wants(t, err, comm.ErrUnsupported, "salvage", 2)
		}
		wants(t, rma.SalvageObject(p, all[2], make([]int64, 101)), rma.ErrBounds, "salvage", 2)
		assert.NoError(t, rma.Detach(ctx, p, ref))
		wants(t, p.Fence(ctx), comm.ErrProcFailed, "fence", 2)
		_, err = rma.Grow[int64](ctx, p, 100)
		wants(t, err, comm.ErrNoRoom, "grow")
		_, _ = c.Agree(ctx, 1)
		assert.NoError(t, p.Revoke())
		assert.NoError(t, p.Free())
	})
}

// TestPoolErrors: a pool is made at all or at none.
func TestPoolErrors(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		_, err := rma.NewPool(ctx, c, 1000*(1+c.Rank()))
		wants(t, err, comm.ErrMismatch, "new_pool")
		_, err = rma.NewPool(ctx, c, -1)
		assert.ErrorIs(t, err, comm.ErrArgument)
		p := newPool(ctx, t, c, 0)
		assert.Equal(t, 2, p.Comm().Size())
		for i := range 8 {
			_, err = rma.Grow[int](ctx, p, 0)
			assert.NoError(t, err, i)
		}
		_, err = rma.Grow[int](ctx, p, 0)
		wants(t, err, comm.ErrNoRoom, "grow")
		assert.NoError(t, p.Free())
	})
}
