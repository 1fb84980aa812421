package shmem_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/shmem"
)

// TestSpecW2W3W5W8W9W17DeadPE: operations on a dead PE fail without effect, those among the living
// succeed, waits end.
func TestSpecW2W3W5W8W9W17DeadPE(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 1024)
		s, sig := alloc[int](ctx, t, h, 4), alloc[uint64](ctx, t, h, 1)
		assert.NoError(t, s.P(ctx, 2, h.PE(), 10+h.PE()))
		if h.PE() == 2 {
			for pe := range 2 {
				assert.NoError(t, s.Part(3, 4).PutSignal(ctx, pe, []int{7}, sig, 1, shmem.SignalSet))
			}
		}
		together(ctx, t, h)
		if h.PE() == 2 {
			kill(c)
		}
		peer, dst := 1-h.PE(), []int{77}
		_, err := shmem.WaitUntil(ctx, s, 0, shmem.EQ, 99, 2)
		wants(t, err, comm.ErrProcFailed, "wait", 2)
		wants(t, shmem.WaitUntilAll(ctx, s.Part(0, 1), nil, shmem.EQ, []int{99}), comm.ErrProcFailed, "wait", 2)
		_, err = shmem.WaitUntil(ctx, sig, 0, shmem.EQ, 1, 2)
		assert.NoError(t, err, "what holds is first")
		assert.Equal(t, 7, s.Local()[3])
		assert.Equal(t, []int{2}, h.Failed())
		wants(t, s.Put(ctx, 2, []int{1}), comm.ErrProcFailed, "put", 2)
		wants(t, s.Get(ctx, 2, dst), comm.ErrProcFailed, "get", 2)
		wants(t, s.P(ctx, 2, 0, 1), comm.ErrProcFailed, "store", 2)
		wants(t, shmem.Inc(ctx, s, 2, 0), comm.ErrProcFailed, "fetch_and_op", 2)
		wants(t, s.PutSignal(ctx, 2, []int{1}, sig, 1, shmem.SignalSet), comm.ErrProcFailed, "put", 2)
		wants(t, s.PutStrided(ctx, 2, 1, []int{1}, 1, 1), comm.ErrProcFailed, "put", 2)
		wants(t, s.GetStrided(ctx, 2, 1, dst, 1, 1), comm.ErrProcFailed, "get", 2)
		assert.Equal(t, []int{77}, dst)
		assert.NoError(t, s.Part(1, 2).Put(ctx, peer, []int{5})) // no PE waits for this element
		wants(t, h.Quiet(ctx), comm.ErrProcFailed, "flush_all", 2)
		wants(t, h.BarrierAll(ctx), comm.ErrProcFailed, "fence", 2)
		wants(t, h.SyncAll(ctx), comm.ErrProcFailed, "sync_all", 2)
		wants(t, shmem.Reduce(ctx, s, s, collectives.Sum), comm.ErrProcFailed, "reduce", 2)
		_, err = shmem.Alloc[int](ctx, h, 1)
		wants(t, err, comm.ErrProcFailed, "alloc", 2)
		wants(t, s.Free(ctx), comm.ErrProcFailed, "free", 2)
		salvages(t, s, 2, 10, 11)
		assert.NoError(t, h.Free())
	})
}

// TestSpecW20Repair: objects keep their places, PEs are numbered anew, locks are free, and the heap
// stays usable. Twice.
func TestSpecW20Repair(t *testing.T) {
	run(t, 5, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 1024)
		gap, s, lock := alloc[byte](ctx, t, h, 100), alloc[int](ctx, t, h, 3), alloc[int64](ctx, t, h, 1)
		s.Local()[0] = 10 * c.Rank()
		assert.NoError(t, gap.Free(ctx))
		for round, victim := range []int{0, 3} {
			if c.Rank() == victim {
				assert.NoError(t, h.Lock(ctx, lock))
				if round == 0 {
					kill(c)
				}
			}
			assert.Equal(t, 5-round, h.PEs())
			if round == 1 {
				together(ctx, t, h)
				if c.Rank() == victim {
					kill(c)
				}
			}
			assert.NoError(t, awaitFailure(ctx, h.Comm(), 1))
			n, err := h.Repair(ctx)
			assert.NoError(t, err)
			wants(t, h.Quiet(ctx), comm.ErrRevoked, "flush_all")
			old := s
			s, err = s.On(n)
			assert.NoError(t, err)
			lock, err = lock.On(n)
			assert.NoError(t, err)
			salvages(t, old.Part(0, 1), slotOf(victim, round), 10*victim)
			assert.Same(t, &old.Local()[0], &s.Local()[0])
			assert.NoError(t, h.Free())
			h = n

			assert.NoError(t, h.Lock(ctx, lock))
			assert.NoError(t, h.Unlock(ctx, lock))
			x := alloc[int32](ctx, t, h, 5)
			assert.NoError(t, x.P(ctx, (h.PE()+1)%h.PEs(), 4, 1))
			assert.NoError(t, h.BarrierAll(ctx))
			assert.Equal(t, []int32{0, 0, 0, 0, 1}, x.Local())
			assert.NoError(t, x.Free(ctx))
		}
		for pe, rank := range []int{1, 2, 4} {
			v, err := s.G(ctx, pe, 0)
			assert.NoError(t, err)
			assert.Equal(t, 10*rank, v)
		}
		assert.NoError(t, h.BarrierAll(ctx))
		assert.NoError(t, h.Free())
	})
}

// salvages checks the readable data of a dead PE, or that there are none: of a PE that shares no
// memory.
func salvages[T comm.Elem](t *testing.T, s shmem.Sym[T], pe int, want ...T) {
	t.Helper()
	got := make([]T, len(want))
	err := s.Salvage(pe, got)
	if _, unshared := s.Ptr(pe); unshared != nil {
		wants(t, err, comm.ErrUnsupported, "salvage", pe)
		return
	}
	assert.NoError(t, err)
	assert.Equal(t, want, got)
}

// together is a barrier that all have left before any returns: a PE can be killed then.
func together(ctx context.Context, t *testing.T, h *shmem.Heap) {
	t.Helper()
	assert.NoError(t, h.BarrierAll(ctx))
	_, _ = h.Comm().Agree(ctx, 1) // the next event may occur before the others return
}

// slotOf is the PE of a rank before a repair.
func slotOf(rank, round int) int { return rank - round }

// TestRepairReachesWaiters: a PE that waits for a living one learns of a repair that another PE has
// begun; PEs die during the repair, too.
func TestRepairReachesWaiters(t *testing.T) {
	for _, second := range []int{-1, 2} {
		for delay := range 10 {
			run(t, 5, func(ctx context.Context, c *comm.Comm) {
				h := heap(ctx, t, c, 1024)
				s := alloc[int](ctx, t, h, 1)
				together(ctx, t, h)
				switch c.Rank() {
				case 4:
					kill(c)
				case second:
					go func() {
						for range delay * 50 {
							yield()
						}
						kill(c)
					}()
				case 1:
					_, err := shmem.WaitUntil(ctx, s, 0, shmem.EQ, 1, 0) // never
					wants(t, err, comm.ErrRevoked, "wait")
				default:
					assert.NoError(t, awaitFailure(ctx, c, 1))
				}
				n, err := h.Repair(ctx)
				if c.Rank() == second {
					return
				}
				assert.NoError(t, err)
				if err == nil {
					_ = n.BarrierAll(ctx) // the second may die in the barrier
					assert.NoError(t, n.Free())
				}
				assert.NoError(t, h.Free())
			})
		}
	}
}

// TestRepairMeetsCalls: PEs that allocate and free while others repair get an error and then call
// Repair; no object exists at some PEs alone.
func TestRepairMeetsCalls(t *testing.T) {
	for delay := range 10 {
		run(t, 4, func(ctx context.Context, c *comm.Comm) {
			h := heap(ctx, t, c, 4096)
			s := alloc[int](ctx, t, h, 1)
			if c.Rank() == 3 {
				for range delay * 20 {
					yield()
				}
				kill(c)
			}
			var err error
			switch c.Rank() {
			case 0:
				for err == nil {
					_, err = shmem.Alloc[byte](ctx, h, 0) // until another PE repairs
				}
			case 1:
				assert.NoError(t, awaitFailure(ctx, c, 1))
				err = s.Free(ctx)
				if assert.Error(t, err) {
					assert.True(t, comm.Recoverable(err) || errors.Is(err, comm.ErrMismatch), "%v", err)
				}
			case 2:
				assert.NoError(t, awaitFailure(ctx, c, 1))
			}
			n, err := h.Repair(ctx)
			if assert.NoError(t, err) {
				s, err = s.On(n)
				assert.NoError(t, err)
				assert.NoError(t, s.P(ctx, (n.PE()+1)%n.PEs(), 0, 7))
				assert.NoError(t, n.BarrierAll(ctx))
				assert.Equal(t, []int{7}, s.Local())
				assert.NoError(t, n.Free())
			}
			assert.NoError(t, h.Free())
		})
	}
}

// TestSpecW11BrokenLock: a PE dies with a lock. Waiting and new PEs get an error until one of them
// mends; another lock is not affected.
func TestSpecW11BrokenLock(t *testing.T) {
	run(t, 4, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 1024)
		lock, other, pair, there := alloc[int64](ctx, t, h, 1), alloc[int64](ctx, t, h, 1), alloc[int](ctx, t, h, 2), alloc[int](ctx, t, h, 1)
		if h.PE() == 3 {
			assert.NoError(t, h.Lock(ctx, lock))
			assert.NoError(t, pair.P(ctx, 0, 0, 1)) // element 1 should follow
		}
		together(ctx, t, h)
		if h.PE() == 3 {
			_, err := shmem.WaitUntil(ctx, there, 0, shmem.EQ, 3)
			assert.NoError(t, err)
			kill(c)
		}
		if err := shmem.Inc(ctx, there, 3, 0); err != nil { // PE 3 may die between the last PE's increment there and the answer (W4)
			wants(t, err, comm.ErrProcFailed, "fetch_and_op", 3)
		}
		wants(t, h.Lock(ctx, lock), comm.ErrProcFailed, "lock", 3)
		_, err := h.TestLock(ctx, lock)
		wants(t, err, comm.ErrProcFailed, "test_lock", 3)
		assert.NoError(t, h.Lock(ctx, other))
		assert.NoError(t, h.Unlock(ctx, other))
		_, _ = c.Agree(ctx, 1)
		assert.NoError(t, h.Mend(ctx, lock))
		v := []int{0, 0}
		assert.NoError(t, pair.Get(ctx, 0, v))
		if v[0] != v[1] {
			assert.NoError(t, pair.P(ctx, 0, 1, v[0]))
		}
		assert.NoError(t, h.Unlock(ctx, lock))
		assert.NoError(t, h.Lock(ctx, lock), "it is whole")
		assert.NoError(t, pair.Get(ctx, 0, v))
		assert.Equal(t, []int{1, 1}, v)
		assert.NoError(t, h.Unlock(ctx, lock))
		assert.NoError(t, h.Free())
	})
}

// TestLockGivenUp: a wait for a lock that is withdrawn, or whose PE dies, leaves no trace; contexts
// and revocations end the wait.
func TestLockGivenUp(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 1024)
		lock := alloc[int64](ctx, t, h, 1)
		if h.PE() == 1 {
			assert.NoError(t, h.Lock(ctx, lock))
		}
		together(ctx, t, h)
		if h.PE() == 2 {
			over, cancel := context.WithCancel(ctx)
			cancel()
			assert.ErrorIs(t, h.Lock(over, lock), context.Canceled)
		}
		together(ctx, t, h)
		switch h.PE() {
		case 0:
			kill(c)
		case 1:
			assert.NoError(t, awaitFailure(ctx, c, 1))
			wants(t, h.Unlock(ctx, lock), comm.ErrProcFailed, "compare_and_swap", 0)
		case 2:
			assert.ErrorIs(t, h.Lock(ctx, lock), comm.ErrProcFailed)
		}
		_, _ = c.Agree(ctx, 1)
		if h.PE() == 1 {
			assert.NoError(t, h.Revoke())
		}
		for !errors.Is(h.Lock(ctx, lock), comm.ErrRevoked) { // until the revocation is known here
			yield()
		}
		assert.NoError(t, h.Free())
	})
}

func yield() { runtime.Gosched() }

// TestSpecW24AllocGivenUp: a PE that cancels an allocation does not know its outcome: the heap is
// revoked, and a repair finds out whether all have the same objects.
func TestSpecW24AllocGivenUp(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 1024)
		var err error
		if c.Rank() == 0 {
			over, cancel := context.WithCancel(ctx)
			cancel()
			_, err = shmem.Alloc[int](over, h, 1)
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
			}
		} else {
			_, err = shmem.Alloc[int](ctx, h, 1)
		}
		have := uint64(0)
		if err == nil {
			have = 1
		}
		all, agreed := c.Agree(ctx, have)
		assert.NoError(t, agreed)
		none, agreed := c.Agree(ctx, 1-have)
		assert.NoError(t, agreed)
		n, err := h.Repair(ctx)
		if all&1 == 1 || none&1 == 1 {
			assert.NoError(t, err)
			assert.NoError(t, n.Free())
		} else {
			wants(t, err, comm.ErrMismatch, "repair")
		}
		assert.NoError(t, h.Free())
	})
}

// TestHandler: the error handler of the communicator receives each error once.
func TestHandler(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		var calls int
		c.SetErrorHandler(func(_ *comm.Comm, err error) error { calls++; return err })
		h := heap(ctx, t, c, 1024)
		s := alloc[int64](ctx, t, h, 1)
		for i, err := range []error{
			s.Put(ctx, 0, []int64{1, 2}), s.Put(ctx, 2, []int64{1}), h.Unlock(ctx, s), s.PutStrided(ctx, 0, 0, nil, 0, 0),
			shmem.Broadcast(ctx, 5, s, s), second(shmem.Alloc[string](ctx, h, 1)), second(shmem.Alloc[int](ctx, h, 9999)),
			second(shmem.TestAny(ctx, s, nil, 0, []int64{1})),
		} {
			assert.Error(t, err)
			if i == 7 {
				assert.Equal(t, 8, calls)
			}
		}
		assert.NoError(t, h.BarrierAll(ctx))
		assert.NoError(t, h.Free())
	})
}

func second[T any](_ T, err error) error { return err }

// TestNoAllocations: operations on memory that is shared allocate nothing.
func TestNoAllocations(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		h := heap(ctx, t, c, 4096)
		s, sig, lock, buf := alloc[int64](ctx, t, h, 8), alloc[uint64](ctx, t, h, 1), alloc[int64](ctx, t, h, 1), make([]int64, 8)
		if _, err := s.Ptr(1); h.PE() == 0 && err == nil {
			n := testing.AllocsPerRun(100, func() {
				_ = s.Put(ctx, 1, buf)
				_ = s.Get(ctx, 1, buf)
				_ = s.P(ctx, 1, 3, 4)
				_, _ = s.G(ctx, 1, 3)
				_ = shmem.Inc(ctx, s, 1, 3)
				_, _ = s.CompareSwap(ctx, 1, 3, 4, 5)
				_ = s.PutSignal(ctx, 1, buf, sig, 1, shmem.SignalAdd)
				_ = h.Quiet(ctx)
				h.Fence()
				_ = h.Lock(ctx, lock)
				_ = h.Unlock(ctx, lock)
			})
			assert.Zero(t, n)
		}
		assert.NoError(t, h.BarrierAll(ctx))
		assert.NoError(t, h.Free())
	})
}
