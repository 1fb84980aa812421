package rma_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/rma"
)

// allocate makes a window, or fails the test.
func allocate[T comm.Elem](ctx context.Context, t *testing.T, c *comm.Comm, n int, o ...rma.Option) *rma.Win[T] {
	t.Helper()
	made := func() (*rma.Win[T], error) { return rma.Allocate[T](ctx, c, n, o...) }
	if ctx.Value(inBulk{}) != nil {
		o = append(o, rma.Bulk())
	}
	if ctx.Value(ownMemory{}) != nil && byteview.Size[T]() >= 4 {
		made = func() (*rma.Win[T], error) { return rma.Create(ctx, c, own[T](n), o...) }
	}
	w, err := made()
	if !assert.NoError(t, err) {
		panic("no window")
	}
	return w
}

// wants checks the class and the operation of an error, and the ranks that it names.
func wants(t *testing.T, err, class error, op string, ranks ...int) {
	t.Helper()
	var e *comm.Error
	if assert.ErrorIs(t, err, class) && assert.ErrorAs(t, err, &e) {
		assert.Equal(t, op, e.Op)
		assert.Equal(t, ranks, e.Ranks)
	}
}

// TestPutGetFence: each member puts into the next one's memory and gets from there, and reads its
// own memory; lengths differ.
func TestPutGetFence(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		run(t, n, func(ctx context.Context, c *comm.Comm) {
			w := allocate[int32](ctx, t, c, 10+c.Rank())
			me, next := c.Rank(), (c.Rank()+1)%n
			assert.Equal(t, 10+next, w.Len(next))
			assert.Equal(t, 0, w.Len(n))
			assert.Len(t, w.Local(), 10+me)
			assert.NoError(t, w.At(next).Put(ctx, 2, []int32{int32(me), 7, -1}))
			assert.NoError(t, w.Fence(ctx))
			before := (me + n - 1) % n
			assert.Equal(t, []int32{0, 0, int32(before), 7, -1, 0}, w.Local()[:6])
			got := make([]int32, 4)
			assert.NoError(t, w.At(next).Get(ctx, 1, got))
			assert.Equal(t, []int32{0, int32(me), 7, -1}, got)
			if direct, err := w.Slice(next); err == nil {
				assert.Equal(t, got, direct[1:5])
			} else {
				wants(t, err, comm.ErrUnsupported, "slice", next)
			}
			assert.NoError(t, w.Fence(ctx))
			assert.NoError(t, w.Free())
		})
	}
}

// TestBounds: an access outside a target's elements changes nothing.
func TestBounds(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[uint16](ctx, t, c, 3)
		peer := 1 - c.Rank()
		for _, a := range []struct{ disp, n int }{{-1, 1}, {0, 4}, {3, 1}, {4, 0}, {1 << 62, 1 << 10}, {-1 << 63, 0}} {
			wants(t, w.At(peer).Put(ctx, a.disp, make([]uint16, a.n)), rma.ErrBounds, "put", peer)
			wants(t, w.At(peer).Get(ctx, a.disp, make([]uint16, a.n)), rma.ErrBounds, "get", peer)
			wants(t, w.Salvage(peer, a.disp, make([]uint16, a.n)), rma.ErrBounds, "salvage", peer)
		}
		_, err := w.At(peer).Load(ctx, 3)
		wants(t, err, rma.ErrBounds, "load", peer)
		wants(t, w.At(2).Put(ctx, 0, nil), comm.ErrRank, "put")
		wants(t, w.At(-1).Put(ctx, 0, nil), comm.ErrRank, "put")
		var none context.Context
		wants(t, w.At(0).Put(none, 0, nil), comm.ErrArgument, "put")
		assert.NoError(t, w.At(peer).Put(ctx, 3, nil), "nothing, at the end")
		assert.Equal(t, []uint16{0, 0, 0}, w.Local())
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
		wants(t, w.Free(), comm.ErrFreed, "free")
		wants(t, w.At(peer).Put(ctx, 0, []uint16{1}), comm.ErrFreed, "put")
		wants(t, w.Fence(ctx), comm.ErrFreed, "fence")
	})
}

// TestEverythingOfEachType: atomic operations on elements of all sizes, beside neighbours that
// others change at the same time.
func TestEverythingOfEachType(t *testing.T) {
	t.Run("int8", everything[int8])
	t.Run("uint8", everything[uint8])
	t.Run("int16", everything[int16])
	t.Run("uint16", everything[uint16])
	t.Run("int32", everything[int32])
	t.Run("uint32", everything[uint32])
	t.Run("int64", everything[int64])
	t.Run("uint64", everything[uint64])
	t.Run("int", everything[int])
	t.Run("float32", everything[float32])
	t.Run("float64", everything[float64])
	type named int32
	t.Run("named", everything[named])
}

func everything[T collectives.Real](t *testing.T) {
	const n, rounds = 4, 25
	run(t, n, func(ctx context.Context, c *comm.Comm) {
		w := allocate[T](ctx, t, c, 8)
		for range rounds { // all change elements 1 to 3 of rank 0; rank r alone counts in element 4 + r
			_, err := w.At(0).FetchAndOp(ctx, 1, 1, collectives.Sum)
			assert.NoError(t, err)
			assert.NoError(t, w.At(0).Accumulate(ctx, 4+c.Rank(), []T{1}, collectives.Sum))
			for old := T(0); ; {
				prev, swapped, err := w.At(0).CompareAndSwap(ctx, 2, old, old+1)
				assert.NoError(t, err)
				if swapped {
					break
				}
				old = prev
			}
			own := collectives.Custom(func(acc, in []T) { acc[0] += in[0] }, true)
			assert.NoError(t, w.At(0).Accumulate(ctx, 3, []T{1}, own))
		}
		assert.NoError(t, w.Fence(ctx))
		got := make([]T, 8)
		assert.NoError(t, w.At(0).Get(ctx, 0, got))
		assert.Equal(t, []T{0, n * rounds, n * rounds, n * rounds, rounds, rounds, rounds, rounds}, got)
		assert.NoError(t, w.Fence(ctx))
		if c.Rank() == 1 {
			assert.NoError(t, w.At(0).Store(ctx, 0, 5))
			prev, err := w.At(0).FetchAndOp(ctx, 0, 3, collectives.Min)
			assert.NoError(t, err)
			assert.Equal(t, T(5), prev)
			v, err := w.At(0).Load(ctx, 0)
			assert.NoError(t, err)
			assert.Equal(t, T(3), v)
			was := make([]T, 2)
			assert.NoError(t, w.At(0).GetAccumulate(ctx, 0, []T{9, 2}, was, collectives.Replace))
			assert.Equal(t, []T{3, n * rounds}, was)
			wants(t, w.At(0).GetAccumulate(ctx, 0, []T{9, 2}, was[:1], collectives.Replace), comm.ErrLength, "get_accumulate")
			prev, swapped, err := w.At(0).CompareAndSwap(ctx, 0, 8, 1)
			assert.NoError(t, err)
			assert.False(t, swapped)
			assert.Equal(t, T(9), prev)
		}
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

type pair struct {
	A int32
	B float64
}

// TestRecordsAndComplex: records are put, and have no atomic operations; a complex128 is changed by
// components, a complex64 and a bool as a whole.
func TestRecordsAndComplex(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		peer := 1 - c.Rank()
		w := allocate[pair](ctx, t, c, 2)
		assert.NoError(t, w.At(peer).Put(ctx, 1, []pair{{int32(c.Rank()), 2.5}}))
		assert.NoError(t, w.Fence(ctx))
		assert.Equal(t, []pair{{}, {int32(peer), 2.5}}, w.Local())
		_, err := w.At(peer).Load(ctx, 0)
		wants(t, err, comm.ErrType, "load")
		wants(t, w.At(peer).Accumulate(ctx, 0, []pair{{}}, collectives.Replace), comm.ErrType, "accumulate")
		assert.NoError(t, w.Free())

		z := allocate[complex128](ctx, t, c, 1)
		assert.NoError(t, z.At(0).Accumulate(ctx, 0, []complex128{1 + 2i}, collectives.Sum))
		wants(t, z.At(0).Accumulate(ctx, 0, []complex128{1}, collectives.Prod), comm.ErrUnsupported, "accumulate")
		_, err = z.At(0).FetchAndOp(ctx, 0, 1, collectives.Sum)
		wants(t, err, comm.ErrType, "fetch_and_op")
		assert.NoError(t, z.Fence(ctx))
		if c.Rank() == 0 {
			assert.Equal(t, []complex128{2 + 4i}, z.Local())
		}
		assert.NoError(t, z.Free())

		y := allocate[complex64](ctx, t, c, 1)
		_, err = y.At(0).FetchAndOp(ctx, 0, 1i, collectives.Sum)
		assert.NoError(t, err)
		assert.NoError(t, y.Fence(ctx))
		v, err := y.At(0).Load(ctx, 0)
		assert.NoError(t, err)
		assert.Equal(t, complex64(2i), v)
		b := allocate[bool](ctx, t, c, 3)
		_, err = b.At(0).FetchAndOp(ctx, 1, true, collectives.LOr)
		assert.NoError(t, err)
		assert.NoError(t, b.Fence(ctx))
		if c.Rank() == 0 {
			assert.Equal(t, []bool{false, true, false}, b.Local())
		}
		assert.NoError(t, y.Free())
		assert.NoError(t, b.Free())
	})
}

// TestRequests: the I... operations end with the same errors, at the wait.
func TestRequests(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 4)
		to, got, was := w.At(1-c.Rank()), []int{0}, []int{0}
		assert.NoError(t, comm.WaitAll(ctx, to.Iput(ctx, 0, []int{3}), to.Iaccumulate(ctx, 0, []int{4}, collectives.Sum), to.IgetAccumulate(ctx, 0, []int{1}, was, collectives.Sum), to.Iget(ctx, 0, got)))
		assert.Equal(t, []int{8}, got)
		assert.Equal(t, []int{7}, was)
		_, err := to.Iput(ctx, 4, []int{3}).Wait(ctx)
		wants(t, err, rma.ErrBounds, "put", 1-c.Rank())
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

// TestFlagAfterData: a flag that is stored after data shows them, without a flush.
func TestFlagAfterData(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		data, flag := allocate[float64](ctx, t, c, 1000), allocate[int64](ctx, t, c, 1)
		for round := range int64(50) {
			if c.Rank() == 0 {
				src := make([]float64, 1000)
				for i := range src {
					src[i] = float64(round)
				}
				assert.NoError(t, data.At(1).Put(ctx, 0, src))
				assert.NoError(t, flag.At(1).Store(ctx, 0, round+1))
				_, err := flag.Wait(ctx, 0, func(v int64) bool { return v == round+1 }, 1)
				assert.NoError(t, err)
				continue
			}
			_, err := flag.Wait(ctx, 0, func(v int64) bool { return v == round+1 }, 0)
			assert.NoError(t, err)
			for _, v := range data.Local() {
				assert.Equal(t, float64(round), v)
			}
			assert.NoError(t, flag.At(0).Store(ctx, 0, round+1))
		}
		assert.NoError(t, data.Free())
		assert.NoError(t, flag.Free())
	})
}
