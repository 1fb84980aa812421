package rma_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/rma"
)

// TestSpecW20Rebuild: after a death the survivors have a window of the same memory, and one of them
// has that of the dead, too; the lock that the dead held is not part of the new window.
func TestSpecW20Rebuild(t *testing.T) {
	run(t, 4, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 3+c.Rank())
		if c.Rank() == 2 {
			assert.NoError(t, w.At(0).Lock(ctx, rma.LockExclusive))
			assert.NoError(t, w.At(0).Put(ctx, 2, []int{99}))
		}
		w.Local()[0] = 10 * c.Rank()
		fence(ctx, t, w)
		if c.Rank() == 2 {
			commtest.Kill(c)
		}
		left, err := c.Shrink(ctx)
		assert.NoError(t, err)
		assert.NoError(t, w.At(c.Rank()).Put(ctx, 1, []int{7}), "W20: it is usable among the living")

		v, err := rma.Rebuild(ctx, left, w)
		assert.NoError(t, err)
		assert.Same(t, &w.Local()[0], &v.Local()[0], "in place")
		heir, err := rma.Rebuild(ctx, left, w, inheritAt(left.Rank() == 0, 2)...)
		inherits := err == nil
		if !inherits && left.Rank() == 0 {
			wants(t, err, comm.ErrUnsupported, "rebuild")
			assert.False(t, isShared(w, 2))
		} else if !inherits {
			wants(t, err, comm.ErrPeerArgument, "rebuild", 0)
		}
		assert.NoError(t, w.Free())

		assert.NoError(t, v.At(0).Lock(ctx, rma.LockExclusive))
		assert.NoError(t, v.At(0).Unlock(ctx))
		for rank, old := range []int{0, 1, 3} {
			assert.Equal(t, 3+old, v.Len(rank))
			got := make([]int, 3)
			assert.NoError(t, v.At(rank).Get(ctx, 0, got))
			want := []int{10 * old, 7, 0}
			if old == 0 {
				want[2] = 99
			}
			assert.Equal(t, want, got)
			if rank == 0 && inherits {
				assert.Equal(t, 5, heir.Len(0))
				assert.NoError(t, heir.At(0).Get(ctx, 0, got))
				assert.Equal(t, []int{20, 0, 0}, got, "what the dead had")
			}
		}
		assert.NoError(t, v.Fence(ctx))
		if inherits {
			assert.NoError(t, heir.Free())
		}
		assert.NoError(t, v.Free())
	})
}

func inheritAt(me bool, rank int) []rma.Option {
	if me {
		return []rma.Option{rma.Inherit(rank)}
	}
	return nil
}

// TestRebuildErrors: the member with an error gets its own error, and the others get an error of a
// peer.
func TestRebuildErrors(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		ctx = context.WithValue(ctx, ownMemory{}, nil) // without new members
		w := allocate[int](ctx, t, c, 1)
		fails := func(class error, old *rma.Win[int], o ...rma.Option) {
			t.Helper()
			var err error
			if c.Rank() == 0 {
				_, err = rma.Rebuild(ctx, c, old, o...)
			} else {
				_, err = rma.Rebuild(ctx, c, w)
				class = comm.ErrPeerArgument
			}
			assert.ErrorIs(t, err, class)
		}
		fails(comm.ErrRank, w, rma.Inherit(2))
		fails(comm.ErrArgument, w, rma.Inherit(1))
		fails(comm.ErrArgument, nil, rma.Inherit(1))
		fails(comm.ErrArgument, w, rma.Inherit(1), rma.Fresh(1))
		fails(comm.ErrArgument, w, rma.Fresh(-1))
		fails(comm.ErrArgument, w, nil)
		freed := allocate[int](ctx, t, c, 1)
		assert.NoError(t, freed.Free())
		fails(comm.ErrFreed, freed)
		_, err := rma.Allocate[int](ctx, c, 1, rma.Fresh(1))
		assert.ErrorIs(t, err, comm.ErrArgument)

		v, err := rma.Rebuild(ctx, c, map[bool]*rma.Win[int]{true: w}[c.Rank() == 0], rma.Fresh(2+c.Rank()))
		assert.NoError(t, err)
		assert.Equal(t, 2, v.Len(0))
		assert.Equal(t, 3, v.Len(1))
		assert.NoError(t, v.Fence(ctx))
		assert.NoError(t, v.Free())
		assert.NoError(t, w.Free())
	})
}

// TestSpecW21Keep: all free their windows, one dies, and the others continue from the memory that
// they have kept. Memory that no Rebuild takes is released by a second Free.
func TestSpecW21Keep(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 2, rma.Keep())
		w.Local()[1] = 7 + c.Rank()
		fence(ctx, t, w)
		assert.NoError(t, w.Free())
		wants(t, w.At(0).Put(ctx, 0, []int{1}), comm.ErrFreed, "put")
		if c.Rank() == 2 {
			commtest.Kill(c)
		}
		left, err := c.Shrink(ctx)
		assert.NoError(t, err)

		v, err := rma.Rebuild(ctx, left, w)
		if !assert.NoError(t, err) {
			return
		}
		got := make([]int, 1)
		assert.NoError(t, v.At(1-left.Rank()).Get(ctx, 1, got))
		assert.Equal(t, 7+1-left.Rank(), got[0])
		wants(t, w.Free(), comm.ErrFreed, "free")
		_, err = rma.Rebuild(ctx, left, w)
		wants(t, err, comm.ErrFreed, "rebuild")

		again := allocate[int](ctx, t, left, 1, rma.Keep())
		assert.NoError(t, again.Free())
		assert.NoError(t, again.Free(), "the second gives the memory back")
		wants(t, again.Free(), comm.ErrFreed, "free")
		fence(ctx, t, v)
		assert.NoError(t, v.Free())
	})
}

// TestSpecW21FreeIsLocal: memory of a member that has freed a window stays accessible to the
// others.
func TestSpecW21FreeIsLocal(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		w.Local()[0] = 3
		assert.NoError(t, w.Fence(ctx))
		if c.Rank() == 0 {
			assert.NoError(t, w.Free())
		}
		assert.NoError(t, comm.Send(ctx, c.To(1-c.Rank()), []int{0}))
		_, err := comm.Recv(ctx, c.From(1-c.Rank()), []int{0})
		assert.NoError(t, err)
		if c.Rank() == 1 {
			got := []int{0}
			assert.NoError(t, w.At(0).Get(ctx, 0, got))
			assert.Equal(t, []int{3}, got)
			assert.NoError(t, w.Free())
		}
	})
}
