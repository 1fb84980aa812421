package shmem_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
	"github.com/goulfm/goulfm/shmem"
)

// heap makes a heap, or fails the test.
func heap(ctx context.Context, t *testing.T, c *comm.Comm, bytes int) *shmem.Heap {
	t.Helper()
	h, err := shmem.New(ctx, c, bytes)
	if !assert.NoError(t, err) {
		panic("no heap")
	}
	return h
}

// alloc makes an object, or fails the test.
func alloc[T comm.Elem](ctx context.Context, t *testing.T, h *shmem.Heap, n int) shmem.Sym[T] {
	t.Helper()
	s, err := shmem.Alloc[T](ctx, h, n)
	if !assert.NoError(t, err) {
		panic("no object")
	}
	return s
}

// wants checks a class of error and the ranks that it names.
func wants(t *testing.T, err, class error, op string, ranks ...int) {
	t.Helper()
	var e *comm.Error
	if assert.ErrorIs(t, err, class) && assert.ErrorAs(t, err, &e) {
		assert.Equal(t, op, e.Op)
		assert.Equal(t, ranks, e.Ranks)
	}
}

// TestObjects: objects of several types are adjacent, and each PE reaches all parts of them at the
// next PE.
func TestObjects(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		run(t, n, func(ctx context.Context, c *comm.Comm) {
			h := heap(ctx, t, c, 5000)
			a, b, z := alloc[int32](ctx, t, h, 10), alloc[byte](ctx, t, h, 3), alloc[complex128](ctx, t, h, 2)
			me, next := h.PE(), (h.PE()+1)%h.PEs()
			before := (me + n - 1) % n
			assert.Equal(t, 5056, h.Bytes())
			assert.NoError(t, a.Part(2, 6).Put(ctx, next, []int32{int32(me), 7}))
			assert.NoError(t, b.P(ctx, next, 1, byte(me)))
			assert.NoError(t, z.P(ctx, next, 1, complex(float64(me), 1)))
			assert.NoError(t, h.BarrierAll(ctx))
			assert.Equal(t, []int32{0, 0, int32(before), 7, 0, 0, 0, 0, 0, 0}, a.Local())
			assert.Equal(t, []byte{0, byte(before), 0}, b.Local())
			assert.Equal(t, []complex128{0, complex(float64(before), 1)}, z.Local())
			got := make([]int32, 2)
			assert.NoError(t, a.Part(2, 4).Get(ctx, next, got))
			assert.Equal(t, []int32{int32(me), 7}, got)
			v, err := b.G(ctx, next, 1)
			assert.NoError(t, err)
			assert.Equal(t, byte(me), v)
			y, err := z.G(ctx, next, 1)
			assert.NoError(t, err)
			assert.Equal(t, complex(float64(me), 1), y)
			if direct, err := a.Part(2, 4).Ptr(next); err == nil {
				assert.Equal(t, got, direct)
			} else {
				wants(t, err, comm.ErrUnsupported, "slice", next)
			}
			assert.NoError(t, h.SyncAll(ctx))
			assert.NoError(t, h.Free())
			wants(t, h.Free(), comm.ErrFreed, "free")
			wants(t, a.Put(ctx, next, got), comm.ErrFreed, "put")
			assert.Empty(t, a.Local())
		})
	}
}

// TestBounds: an access outside an object, or outside a part of an object, is an error without
// effect, though bytes of other objects are there.
func TestBounds(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 1024)
		s, other := alloc[uint16](ctx, t, h, 4), alloc[uint16](ctx, t, h, 4)
		p, peer := s.Part(1, 3), 1-h.PE()
		wants(t, p.Put(ctx, peer, make([]uint16, 3)), rma.ErrBounds, "put", peer)
		wants(t, p.Get(ctx, peer, make([]uint16, 3)), rma.ErrBounds, "get", peer)
		wants(t, p.Salvage(peer, make([]uint16, 3)), rma.ErrBounds, "salvage", peer)
		for _, i := range []int{-1, 2, 1 << 62, -1 << 63} {
			wants(t, p.P(ctx, peer, i, 1), rma.ErrBounds, "p", peer)
			wants(t, p.Set(ctx, peer, i, 1), rma.ErrBounds, "set", peer)
			_, err := p.G(ctx, peer, i)
			wants(t, err, rma.ErrBounds, "g", peer)
			_, err = p.Fetch(ctx, peer, i)
			wants(t, err, rma.ErrBounds, "fetch", peer)
			_, err = p.Swap(ctx, peer, i, 1)
			wants(t, err, rma.ErrBounds, "fetch_op", peer)
			_, err = p.CompareSwap(ctx, peer, i, 0, 1)
			wants(t, err, rma.ErrBounds, "compare_swap", peer)
			_, err = shmem.WaitUntil(ctx, p, i, shmem.EQ, 0)
			wants(t, err, rma.ErrBounds, "wait_until", h.PE())
		}
		wants(t, p.PutStrided(ctx, peer, 2, make([]uint16, 9), 1, 2), rma.ErrBounds, "put_strided", peer)
		wants(t, p.PutStrided(ctx, peer, 1, make([]uint16, 1), 1, 2), comm.ErrArgument, "put_strided")
		wants(t, p.GetStrided(ctx, peer, 0, make([]uint16, 1), 1, 1), comm.ErrArgument, "get_strided")
		wants(t, p.Put(ctx, 2, []uint16{1}), comm.ErrRank, "put")
		assert.Panics(t, func() { p.Part(1, 3) })
		var none shmem.Sym[int]
		wants(t, none.Put(ctx, 0, nil), comm.ErrArgument, "put")
		wants(t, none.Free(ctx), comm.ErrArgument, "free")
		_, err := shmem.WaitUntil(ctx, none, 0, shmem.EQ, 0)
		wants(t, err, comm.ErrArgument, "wait_until")
		_, err = shmem.SignalFetch(ctx, shmem.Sym[uint64]{})
		wants(t, err, comm.ErrArgument, "signal_fetch")
		assert.NoError(t, h.BarrierAll(ctx))
		assert.Equal(t, make([]uint16, 4), s.Local())
		assert.Equal(t, make([]uint16, 4), other.Local())
		assert.NoError(t, h.Free())
	})
}

// TestSpecW1AllocIsUniform: no room, wrong arguments and different requests are errors at all PEs,
// and later allocations match.
func TestSpecW1AllocIsUniform(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		n := 100
		if c.Rank() == 1 {
			n = 200
		}
		_, err := shmem.New(ctx, c, n)
		wants(t, err, comm.ErrMismatch, "new")
		_, err = shmem.New(ctx, c, -1)
		assert.ErrorIs(t, err, comm.ErrArgument)

		h := heap(ctx, t, c, 1000)
		_, err = shmem.Alloc[int64](ctx, h, 129)
		wants(t, err, comm.ErrNoRoom, "alloc")
		_, err = shmem.Alloc[int64](ctx, h, n)
		wants(t, err, comm.ErrMismatch, "alloc")
		_, err = shmem.Alloc[string](ctx, h, 1)
		wants(t, err, comm.ErrType, "alloc")
		if c.Rank() == 2 {
			_, err = shmem.Alloc[int64](ctx, h, -1)
			wants(t, err, comm.ErrArgument, "alloc")
		} else {
			_, err = shmem.Alloc[int64](ctx, h, 1)
			wants(t, err, comm.ErrMismatch, "alloc")
		}
		a, b, d := alloc[int64](ctx, t, h, 50), alloc[byte](ctx, t, h, 1), alloc[int64](ctx, t, h, 60)
		for i := range d.Local() {
			d.Local()[i] = 5
		}
		assert.NoError(t, d.Free(ctx))
		wants(t, d.Free(ctx), comm.ErrFreed, "free")
		_, err = d.On(h)
		wants(t, err, comm.ErrFreed, "on")
		e := alloc[int64](ctx, t, h, 60)
		assert.Equal(t, make([]int64, 60), e.Local(), "zeroed")
		assert.NoError(t, a.Free(ctx))
		f := alloc[int32](ctx, t, h, 1)
		a.Local()[0] = 1 << 40
		_, err = f.G(ctx, h.PE(), 0)
		assert.NoError(t, err, "the first place that is free")
		_ = b
		assert.NoError(t, h.Free())
	})
}

// TestStrided: elements are copied to the places that the steps give, and nowhere else.
func TestStrided(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 1024)
		s, peer := alloc[int](ctx, t, h, 7), 1-c.Rank()
		assert.NoError(t, s.PutStrided(ctx, peer, 3, []int{1, 0, 2, 0, 3}, 2, 3))
		assert.NoError(t, s.PutStrided(ctx, peer, 3, nil, 2, 0))
		assert.NoError(t, h.BarrierAll(ctx))
		assert.Equal(t, []int{1, 0, 0, 2, 0, 0, 3}, s.Local())
		got := make([]int, 5)
		assert.NoError(t, s.GetStrided(ctx, peer, 3, got, 2, 3))
		assert.Equal(t, []int{1, 0, 2, 0, 3}, got)
		assert.NoError(t, comm.WaitAll(ctx, s.Part(1, 3).Iput(ctx, c.Rank(), []int{8, 9}), s.Part(3, 4).Iget(ctx, peer, got[:1])))
		assert.Equal(t, []int{1, 8, 9, 2, 0, 0, 3}, s.Local())
		assert.Equal(t, 2, got[0])
		assert.NoError(t, h.SyncAll(ctx))
		assert.NoError(t, h.Free())
	})
}

// TestAtomics: all change the same elements of PE 0 at once.
func TestAtomics(t *testing.T) {
	const n, rounds = 4, 50
	run(t, n, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 4096)
		s, bits, f := alloc[int64](ctx, t, h, 8), alloc[uint8](ctx, t, h, 4), alloc[float64](ctx, t, h, 1)
		bit := uint8(1) << c.Rank()
		for range rounds {
			assert.NoError(t, shmem.Add(ctx, s, 0, 0, 2))
			assert.NoError(t, shmem.Inc(ctx, s, 0, 1))
			_, err := shmem.FetchInc(ctx, s, 0, 2)
			assert.NoError(t, err)
			_, err = shmem.FetchAdd(ctx, f, 0, 0, 0.5)
			assert.NoError(t, err)
			assert.NoError(t, shmem.Or(ctx, bits, 0, 1, bit))
			prev, err := shmem.FetchAnd(ctx, bits, 0, 1, ^bit)
			assert.NoError(t, err)
			assert.NotZero(t, prev&bit)
			assert.NoError(t, shmem.Xor(ctx, bits, 0, 2, bit))
			assert.NoError(t, shmem.And(ctx, bits, 0, 3, bit))
			for old := int64(0); ; {
				prev, err := s.CompareSwap(ctx, 0, 3, old, old+1)
				assert.NoError(t, err)
				if prev == old {
					break
				}
				old = prev
			}
		}
		assert.NoError(t, h.SyncAll(ctx)) // no PE clears bits any more
		prev, err := shmem.FetchOr(ctx, bits, 0, 3, bit)
		assert.NoError(t, err)
		assert.Zero(t, prev&bit)
		prev, err = shmem.FetchXor(ctx, bits, 0, 3, bit)
		assert.NoError(t, err)
		assert.NotZero(t, prev&bit)
		assert.NoError(t, h.BarrierAll(ctx))
		for i, want := range []int64{2 * n * rounds, n * rounds, n * rounds, n * rounds} {
			v, err := s.Fetch(ctx, 0, i)
			assert.NoError(t, err)
			assert.Equal(t, want, v)
		}
		all := make([]uint8, 4)
		assert.NoError(t, bits.Get(ctx, 0, all))
		assert.Equal(t, make([]uint8, 4), all)
		x, err := f.G(ctx, 0, 0)
		assert.NoError(t, err)
		assert.Equal(t, float64(n*rounds)/2, x)
		old, err := s.Swap(ctx, c.Rank(), 7, 5)
		assert.NoError(t, err)
		assert.Zero(t, old)
		old, err = s.FetchOp(ctx, c.Rank(), 7, 9, collectives.Max)
		assert.NoError(t, err)
		assert.Equal(t, int64(5), old)
		assert.Equal(t, int64(9), s.Local()[7])
		assert.NoError(t, h.Free())
	})
}

// TestWaits: PE 0 waits for the stores of all others, in every way.
func TestWaits(t *testing.T) {
	const n = 4
	run(t, n, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 4096)
		flags, data, sig := alloc[int32](ctx, t, h, n), alloc[float64](ctx, t, h, n), alloc[uint64](ctx, t, h, 2)
		for round := int32(1); round <= 20; round++ {
			if me := h.PE(); me > 0 {
				assert.NoError(t, data.Part(me, me+1).PutSignal(ctx, 0, []float64{float64(me)}, sig.Part(1, 2), 1, shmem.SignalAdd))
				assert.NoError(t, data.Part(me, me+1).Put(ctx, 0, []float64{float64(int32(me) * round)}))
				assert.NoError(t, flags.P(ctx, 0, me, round))
				v, err := shmem.WaitUntil(ctx, flags, 0, shmem.GE, round, 0)
				assert.NoError(t, err)
				assert.Equal(t, round, v)
				continue
			}
			skip, left := []bool{true, false, false, false}, n-1
			for left > 0 {
				some, err := shmem.WaitUntilSome(ctx, flags, skip, shmem.EQ, []int32{round}, 1, 2, 3)
				assert.NoError(t, err)
				assert.NotEmpty(t, some)
				for _, i := range some {
					assert.Equal(t, float64(int32(i)*round), data.Local()[i])
					skip[i], left = true, left-1
				}
			}
			none, err := shmem.WaitUntilAny(ctx, flags, skip, shmem.EQ, []int32{round})
			assert.NoError(t, err)
			assert.Equal(t, -1, none)
			count, err := shmem.WaitUntil(ctx, sig, 1, shmem.EQ, uint64(round*(n-1)), 1, 2, 3)
			assert.NoError(t, err)
			seen, err := shmem.SignalFetch(ctx, sig.Part(1, 2))
			assert.NoError(t, err)
			assert.Equal(t, count, seen)
			assert.NoError(t, shmem.WaitUntilAll(ctx, flags, nil, shmem.LE, []int32{round}))
			ok, err := shmem.TestAll(ctx, flags, nil, shmem.EQ, []int32{round - 1, round, round, round})
			assert.NoError(t, err)
			assert.True(t, ok)
			any, err := shmem.TestAny(ctx, flags, nil, shmem.LT, []int32{round})
			assert.NoError(t, err)
			assert.Equal(t, 0, any)
			some, err := shmem.TestSome(ctx, flags, nil, shmem.NE, []int32{round - 1})
			assert.NoError(t, err)
			assert.Equal(t, []int{1, 2, 3}, some)
			ok, err = shmem.Test(ctx, flags, 3, shmem.GT, round)
			assert.NoError(t, err)
			assert.False(t, ok)
			assert.NoError(t, flags.Set(ctx, 0, 0, round))
			for pe := 1; pe < n; pe++ {
				assert.NoError(t, flags.P(ctx, pe, 0, round))
			}
		}
		_, err := shmem.Test(ctx, flags, 0, 0, 0)
		wants(t, err, comm.ErrArgument, "test")
		_, err = shmem.TestAny(ctx, flags, nil, shmem.EQ, []int32{1, 2})
		wants(t, err, comm.ErrLength, "test_any")
		_, err = shmem.WaitUntilSome(ctx, flags, []bool{true}, shmem.EQ, []int32{1})
		wants(t, err, comm.ErrLength, "wait_until_some")
		wants(t, data.PutSignal(ctx, 0, nil, sig, 1, 0), comm.ErrArgument, "put_signal")
		assert.NoError(t, h.BarrierAll(ctx))
		assert.NoError(t, h.Free())
	})
}

// TestCollectives: each with parts of objects, also on a team.
func TestCollectives(t *testing.T) {
	run(t, 4, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 8192)
		src, dst := alloc[int](ctx, t, h, 8), alloc[int](ctx, t, h, 16)
		odd, err := c.Split(ctx, c.Rank()%2, 0)
		assert.NoError(t, err)
		team, err := h.Team(ctx, odd)
		assert.NoError(t, err)
		onTeam := func(s shmem.Sym[int]) shmem.Sym[int] {
			s, err := s.On(team)
			assert.NoError(t, err)
			return s
		}
		for i := range src.Local() {
			src.Local()[i] = 10*c.Rank() + i
		}
		check := func(s, d shmem.Sym[int], ranks []int) {
			h, n := s.Heap(), len(ranks)
			assert.Equal(t, n, h.PEs())
			assert.NoError(t, shmem.Broadcast(ctx, 1, d.Part(0, 3), s.Part(2, 5)))
			assert.Equal(t, []int{10*ranks[1] + 2, 10*ranks[1] + 3, 10*ranks[1] + 4}, d.Local()[:3])
			assert.NoError(t, shmem.Fcollect(ctx, d.Part(0, 2*n), s.Part(0, 2)))
			collected, err := shmem.Collect(ctx, d.Part(8, 16), s.Part(0, h.PE()))
			assert.NoError(t, err)
			assert.Equal(t, n*(n-1)/2, collected)
			at := 8
			for i, rank := range ranks {
				assert.Equal(t, []int{10 * rank, 10*rank + 1}, d.Local()[2*i:2*i+2])
				for k := range i {
					assert.Equal(t, 10*rank+k, d.Local()[at])
					at++
				}
			}
			assert.NoError(t, shmem.Alltoall(ctx, d.Part(0, 2*n), s.Part(0, 2*n)))
			sum, before := 0, 0
			for i, rank := range ranks {
				k := 2 * h.PE()
				assert.Equal(t, []int{10*rank + k, 10*rank + k + 1}, d.Local()[2*i:2*i+2])
				sum += 10 * rank
				if i < h.PE() {
					before += 10 * rank
				}
			}
			assert.NoError(t, shmem.Reduce(ctx, d.Part(0, 1), s.Part(0, 1), collectives.Sum))
			assert.NoError(t, shmem.Scan(ctx, d.Part(1, 2), s.Part(0, 1), collectives.Sum))
			d.Local()[2] = 0
			assert.NoError(t, shmem.Exscan(ctx, d.Part(2, 3), s.Part(0, 1), collectives.Sum))
			assert.Equal(t, []int{sum, before + s.Local()[0], before}, d.Local()[:3])
			wants(t, shmem.Broadcast(ctx, 0, d, s), comm.ErrLength, "broadcast")
			wants(t, shmem.Fcollect(ctx, d.Part(0, 1), s), comm.ErrLength, "fcollect")
			wants(t, shmem.Alltoall(ctx, d.Part(0, 1), s.Part(0, 1)), comm.ErrLength, "alltoall")
			wants(t, shmem.Reduce(ctx, d, s, collectives.Sum), comm.ErrLength, "reduce")
			_, err = shmem.Collect(ctx, d.Part(0, 1), s)
			wants(t, err, comm.ErrLength, "collect")
			wants(t, shmem.Broadcast(ctx, 9, d.Part(0, 1), s.Part(0, 1)), comm.ErrRoot, "broadcast")
		}
		check(src, dst, []int{0, 1, 2, 3})
		check(onTeam(src), onTeam(dst), []int{c.Rank() % 2, c.Rank()%2 + 2})
		wants(t, shmem.Reduce(ctx, dst.Part(0, 8), onTeam(src), collectives.Sum), comm.ErrArgument, "reduce")
		_, err = shmem.Alloc[int](ctx, team, 1)
		wants(t, err, comm.ErrUnsupported, "alloc")
		wants(t, onTeam(src).Free(ctx), comm.ErrUnsupported, "free")
		_, err = team.Repair(ctx)
		wants(t, err, comm.ErrArgument, "repair")
		other := heap(ctx, t, c, 64)
		_, err = src.On(other)
		wants(t, err, comm.ErrArgument, "on")

		assert.NoError(t, onTeam(dst).P(ctx, 1, 15, c.Rank()), "PE 1 of the team")
		assert.NoError(t, team.BarrierAll(ctx))
		if team.PE() == 1 {
			assert.Contains(t, []int{c.Rank(), c.Rank() - 2}, dst.Local()[15])
		}
		assert.NoError(t, h.BarrierAll(ctx))
		for _, each := range []*shmem.Heap{team, other, h} {
			assert.NoError(t, each.Free())
		}
	})
}

// TestLockExcludes: changes under a lock, by several goroutines of each PE, lose nothing, also with
// the lock as seen by a team.
func TestLockExcludes(t *testing.T) {
	const n, each = 4, 40
	run(t, n, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 4096)
		locks, sum := alloc[int64](ctx, t, h, 3), alloc[int](ctx, t, h, 1)
		lock := locks.Part(1, 2)
		half, err := c.Split(ctx, c.Rank()%2, 0)
		assert.NoError(t, err)
		team, err := h.Team(ctx, half)
		assert.NoError(t, err)
		seen, err := lock.On(team)
		assert.NoError(t, err)
		work := func(h *shmem.Heap, lock shmem.Sym[int64]) {
			for range each {
				assert.NoError(t, h.Lock(ctx, lock))
				v := []int{0}
				assert.NoError(t, sum.Get(ctx, 2, v))
				v[0]++
				assert.NoError(t, sum.Put(ctx, 2, v))
				assert.NoError(t, h.Unlock(ctx, lock))
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			work(team, seen)
		}()
		work(h, lock)
		<-done
		assert.NoError(t, h.BarrierAll(ctx))
		if h.PE() == 2 {
			assert.Equal(t, 2*n*each, sum.Local()[0])
		}
		wants(t, h.Unlock(ctx, lock), rma.ErrNotHeld, "unlock")
		got, err := h.TestLock(ctx, locks.Part(h.PE()%3, 3))
		assert.NoError(t, err)
		assert.NoError(t, h.SyncAll(ctx))
		count := 0
		if got {
			count = 1
			assert.NoError(t, h.Unlock(ctx, locks.Part(h.PE()%3, 3)))
		}
		all, err := collectives.AllreduceOne(ctx, c, count, collectives.Sum)
		assert.NoError(t, err)
		assert.Equal(t, 3, all)
		wants(t, h.Lock(ctx, lock.Part(0, 0)), rma.ErrBounds, "lock", 0)
		assert.NoError(t, team.Free())
		assert.NoError(t, h.Free())
	})
}
