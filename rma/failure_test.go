package rma_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/rma"
)

// TestSpecW1OneOutcome: a member with a wrong argument votes no, and is named at the others. All
// members get the error if their arguments do not match; a death ends the creation at all.
func TestSpecW1OneOutcome(t *testing.T) {
	run(t, 4, func(ctx context.Context, c *comm.Comm) {
		n := 3
		if c.Rank() == 2 {
			n = -1
		}
		w, err := rma.Allocate[int](ctx, c, n)
		assert.Nil(t, w)
		if c.Rank() == 2 {
			wants(t, err, comm.ErrArgument, "allocate")
		} else {
			wants(t, err, comm.ErrPeerArgument, "allocate", 2)
		}
		counters := 1
		if c.Rank() == 3 {
			counters = 2
		}
		_, err = rma.Allocate[int](ctx, c, 1, rma.Notifications(counters))
		assert.ErrorIs(t, err, comm.ErrMismatch)
		if c.Rank() == 0 {
			_, err = rma.Allocate[int32](ctx, c, 1)
		} else {
			_, err = rma.Allocate[int64](ctx, c, 1)
		}
		assert.ErrorIs(t, err, comm.ErrMismatch)
		_, err = rma.Allocate[string](ctx, c, 1)
		wants(t, err, comm.ErrType, "allocate")
		_, err = rma.Allocate[int](ctx, nil, 1)
		assert.ErrorIs(t, err, comm.ErrArgument)
		if c.Rank() == 1 {
			commtest.Kill(c)
		}
		_, err = rma.Allocate[int](ctx, c, 1)
		wants(t, err, comm.ErrProcFailed, "allocate", 1)
		left, err := c.Shrink(ctx)
		assert.NoError(t, err)
		v := allocate[int](ctx, t, left, 1)
		assert.NoError(t, v.Fence(ctx))
		assert.NoError(t, v.Free())
	})
}

// TestSpecW1DeathWhileItIsMade: whenever a member dies during the creation of a window, either all
// survivors get the window or none does.
func TestSpecW1DeathWhileItIsMade(t *testing.T) {
	for delay := range 40 {
		var got, not atomic.Int32
		commtest.Run(t, 4, func(ctx context.Context, c *comm.Comm) {
			if c.Rank() == 3 {
				done := make(chan struct{})
				go func() {
					defer close(done)
					for range delay * delay {
						yield()
					}
					commtest.Kill(c)
				}()
				_, _ = rma.Allocate[int](ctx, c, 5)
				<-done
				return
			}
			w, err := rma.Allocate[int](ctx, c, 5)
			if err != nil {
				assert.ErrorIs(t, err, comm.ErrProcFailed)
				not.Add(1)
				return
			}
			got.Add(1)
			_ = w.Fence(ctx)
			assert.NoError(t, w.Free())
		})
		assert.True(t, got.Load() == 3 || not.Load() == 3, "%d have it, %d have not", got.Load(), not.Load())
	}
}

// TestSpecR60W2W3W5W8W9W14W15DeadTarget: operations on the dead fail without effect, those on the
// living succeed; a fence fails, and the puts before the fence are in place; the memory of the dead
// can be read.
func TestSpecR60W2W3W5W8W9W14W15DeadTarget(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 4, rma.Notifications(1))
		assert.NoError(t, w.At(2).Put(ctx, c.Rank(), []int{10 + c.Rank()}))
		fence(ctx, t, w)
		if c.Rank() == 2 {
			commtest.Kill(c)
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, w.Comm(), 1))
		dead, peer, dst := w.At(2), w.At(1-c.Rank()), []int{77}
		wants(t, dead.Put(ctx, 3, []int{1}), comm.ErrProcFailed, "put", 2)
		wants(t, dead.Get(ctx, 0, dst), comm.ErrProcFailed, "get", 2)
		wants(t, dead.Store(ctx, 3, 1), comm.ErrProcFailed, "store", 2)
		wants(t, dead.Accumulate(ctx, 3, []int{1}, collectives.Sum), comm.ErrProcFailed, "accumulate", 2)
		wants(t, dead.PutNotify(ctx, 3, []int{1}, 0), comm.ErrProcFailed, "put_notify", 2)
		wants(t, dead.Flush(ctx), comm.ErrProcFailed, "flush", 2)
		wants(t, dead.Lock(ctx, rma.LockShared), comm.ErrProcFailed, "lock", 2)
		_, err := dead.Load(ctx, 0)
		wants(t, err, comm.ErrProcFailed, "load", 2)
		_, err = dead.FetchAndOp(ctx, 3, 1, collectives.Sum)
		wants(t, err, comm.ErrProcFailed, "fetch_and_op", 2)
		_, _, err = dead.CompareAndSwap(ctx, 3, 0, 1)
		wants(t, err, comm.ErrProcFailed, "compare_and_swap", 2)
		_, err = dead.Iput(ctx, 3, []int{1}).Wait(ctx)
		wants(t, err, comm.ErrProcFailed, "put", 2)
		assert.Equal(t, []int{77}, dst, "untouched")

		assert.NoError(t, peer.Put(ctx, 0, []int{5}), "W2")
		assert.NoError(t, peer.Flush(ctx))
		wants(t, w.FlushAll(ctx), comm.ErrProcFailed, "flush_all", 2)
		wants(t, w.Fence(ctx), comm.ErrProcFailed, "fence", 2)
		_, err = w.Comm().Agree(ctx, 1)
		wants(t, err, comm.ErrProcFailed, "agree", 2)
		assert.Equal(t, 5, w.Local()[0], "W14, W15: what was put before the fence that failed is there")

		salvages(t, w, 2, 0, 10, 11, 12, 0) // W9
		assert.NoError(t, w.Free())
	})
}

// TestSpecW4TargetDiesMeanwhile: successful operations on a target that died were done, and after
// the first error there are only errors.
func TestSpecW4TargetDiesMeanwhile(t *testing.T) {
	for delay := range 20 {
		run(t, 3, func(ctx context.Context, c *comm.Comm) {
			w := allocate[uint64](ctx, t, c, 2)
			fence(ctx, t, w)
			if c.Rank() == 2 {
				for range 10 * delay {
					yield()
				}
				commtest.Kill(c)
			}
			done := uint64(0)
			for {
				prev, err := w.At(2).FetchAndOp(ctx, c.Rank(), 1, collectives.Sum)
				if err != nil {
					wants(t, err, comm.ErrProcFailed, "fetch_and_op", 2)
					break
				}
				assert.Equal(t, done, prev)
				done++
			}
			salvages(t, w, 2, c.Rank(), done)
			wants(t, w.At(2).Store(ctx, c.Rank(), 0), comm.ErrProcFailed, "store", 2)
			assert.NoError(t, w.Free())
		})
	}
}

// TestSpecW7Silence: a rank is killed while putting in an endless loop. Once the target knows of
// the death no store arrives any more.
func TestSpecW7Silence(t *testing.T) {
	for range 20 {
		run(t, 3, func(ctx context.Context, c *comm.Comm) {
			w := allocate[uint64](ctx, t, c, 512, rma.Notifications(1))
			if c.Rank() == 2 {
				go func() {
					_, _ = w.Wait(ctx, 0, func(v uint64) bool { return v > 0 }, 0)
					commtest.Kill(c)
				}()
				src := make([]uint64, 512)
				for v := uint64(1); ; v++ {
					for i := range src {
						src[i] = v
					}
					if err := w.At(0).PutNotify(ctx, 0, src, 0); err != nil {
						assert.ErrorIs(t, err, comm.ErrFenced)
						return
					}
				}
			}
			if c.Rank() == 0 {
				assert.NoError(t, w.WaitNotify(ctx, 0, 3, 2))
				assert.NoError(t, w.At(2).Store(ctx, 0, 1))
				assert.NoError(t, commtest.AwaitFailure(ctx, c, 1))
				a, b := make([]uint64, 512), make([]uint64, 512)
				assert.NoError(t, w.At(0).Get(ctx, 0, a))
				for range 200 {
					yield()
					assert.NoError(t, w.At(0).Get(ctx, 0, b))
					if !assert.Equal(t, a, b) {
						break
					}
				}
			}
			_, _ = w.Comm().Agree(ctx, 1)
			assert.NoError(t, w.Free())
		})
	}
}

// TestSpecW17W18Waits: the value first, then a revocation, then deaths: of the named ranks, or of
// any rank that is not acknowledged.
func TestSpecW17W18Waits(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1, rma.Notifications(2))
		if c.Rank() == 2 {
			assert.NoError(t, w.At(0).PutNotify(ctx, 0, []int{9}, 1))
			fence(ctx, t, w)
			commtest.Kill(c)
		}
		fence(ctx, t, w)
		never := func(int) bool { return false }
		if c.Rank() == 0 {
			_, err := w.Wait(ctx, 0, never, 2)
			wants(t, err, comm.ErrProcFailed, "wait", 2)
			wants(t, w.WaitNotify(ctx, 0, 1, 1, 2), comm.ErrProcFailed, "wait_notify", 2)
			_, err = w.Wait(ctx, 0, never)
			wants(t, err, comm.ErrProcFailed, "wait", 2)
			v, err := w.Wait(ctx, 0, func(v int) bool { return v == 9 })
			assert.NoError(t, err)
			assert.Equal(t, 9, v)
			assert.NoError(t, w.WaitNotify(ctx, 1, 1, 2), "W18: it is counted, whoever died")
			assert.Equal(t, uint64(1), w.Notified(1))
			assert.Equal(t, uint64(1), w.TakeNotified(1))
			assert.Equal(t, uint64(0), w.Notified(1))
			assert.Equal(t, uint64(0), w.Notified(2))
			assert.Equal(t, uint64(0), w.TakeNotified(-1))
			wants(t, w.WaitNotify(ctx, 2, 1), rma.ErrBounds, "wait_notify", 0)
			wants(t, w.WaitNotify(ctx, 0, 1, 3), comm.ErrRank, "wait_notify")
			_, err = w.Wait(ctx, 1, never)
			wants(t, err, rma.ErrBounds, "wait")
			assert.NoError(t, w.Comm().FailureAck())
			assert.NoError(t, w.At(1).Store(ctx, 0, 1))
			assert.NoError(t, w.WaitNotify(ctx, 0, 1), "acknowledged: others may still come")
			over, cancel := context.WithCancel(ctx)
			cancel()
			_, err = w.Wait(over, 0, never)
			assert.ErrorIs(t, err, context.Canceled)
			assert.NoError(t, w.Revoke())
			_, err = w.Wait(ctx, 0, never)
			wants(t, err, comm.ErrRevoked, "wait")
		} else {
			_, err := w.Wait(ctx, 0, func(v int) bool { return v == 1 }, 0)
			assert.NoError(t, err)
			assert.NoError(t, w.At(0).Notify(ctx, 0))
			_, err = w.Wait(ctx, 0, never, 0)
			wants(t, err, comm.ErrRevoked, "wait")
		}
		assert.NoError(t, w.Free())
	})
}

// TestSpecW19W23Revoke: a revocation of the communicator also revokes its windows, even for members
// that wait in a fence; a revocation of a window does not revoke its communicator.
func TestSpecW19W23Revoke(t *testing.T) {
	for _, parent := range []bool{true, false} {
		run(t, 3, func(ctx context.Context, world *comm.Comm) {
			c, err := world.Dup(ctx)
			assert.NoError(t, err)
			w, other := allocate[int](ctx, t, c, 3), allocate[int](ctx, t, world, 1)
			assert.NoError(t, w.At(0).Put(ctx, c.Rank(), []int{4}))
			fence(ctx, t, w)
			if c.Rank() == 0 {
				if parent {
					assert.NoError(t, c.Revoke())
				} else {
					assert.NoError(t, w.Revoke())
				}
			}
			for err == nil {
				err = w.Fence(ctx)
			}
			wants(t, err, comm.ErrRevoked, "fence")
			wants(t, w.At(1).Put(ctx, 0, []int{1}), comm.ErrRevoked, "put")
			wants(t, w.At(1).Lock(ctx, rma.LockShared), comm.ErrRevoked, "lock")
			assert.Equal(t, parent, c.IsRevoked())
			salvages(t, w, 0, c.Rank(), 4) // completed operations stay in effect
			assert.NoError(t, other.Fence(ctx), "W23")
			assert.NoError(t, w.Free())
			assert.NoError(t, other.Free())
			assert.NoError(t, c.Free())
		})
	}
}

// TestUnsupported: calls that need shared memory fail for members of other nodes.
func TestUnsupported(t *testing.T) {
	commtest.Nodes{0, 0, 1}.Run(t, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		for rank := range 3 {
			_, err := w.Slice(rank)
			if (rank == 2) == (c.Rank() == 2) {
				assert.NoError(t, err)
				continue
			}
			wants(t, err, comm.ErrUnsupported, "slice", rank)
			wants(t, w.Salvage(rank, 0, []int{0}), comm.ErrUnsupported, "salvage", rank)
		}
		assert.NoError(t, w.Free())
	})
}

// TestSpecW24Contexts: a put that need not wait ignores its context; a cancelled fence revokes the
// window.
func TestSpecW24Contexts(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		over, cancel := context.WithCancel(ctx)
		cancel()
		if c.Rank() == 0 {
			assert.NoError(t, w.At(0).Put(over, 0, []int{1}), "it need not wait")
			err := w.Fence(over)
			assert.ErrorIs(t, err, context.Canceled)
		} else {
			wants(t, w.Fence(ctx), comm.ErrRevoked, "fence")
		}
		assert.NoError(t, w.Free())
	})
}

// TestHandler: the error handler of the communicator receives each error once.
func TestHandler(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		var calls int
		c.SetErrorHandler(func(_ *comm.Comm, err error) error { calls++; return err })
		w := allocate[int](ctx, t, c, 1)
		assert.Error(t, w.At(0).Put(ctx, 1, []int{1}))
		assert.Equal(t, 1, calls)
		_, err := rma.Allocate[string](ctx, c, 1)
		assert.Error(t, err)
		assert.Equal(t, 2, calls)
		assert.Error(t, w.UnlockAll(ctx))
		assert.Equal(t, 3, calls)
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

// TestSpecW1RevokedWhileItIsMade: a revocation during the creation of a window is ErrRevoked at
// each member that gets no window, also at one that had the offers of all members before it.
func TestSpecW1RevokedWhileItIsMade(t *testing.T) {
	for seed := range uint64(20) {
		commtest.Nodes{0, 0, 1}.Run(t, func(ctx context.Context, c *comm.Comm) {
			rng := rand.New(rand.NewPCG(seed, uint64(c.Rank())))
			for range 20 {
				d, err := c.Dup(ctx)
				require.NoError(t, err)
				revoked := make(chan bool)
				go func() {
					defer close(revoked)
					for range rng.IntN(2000) {
						runtime.Gosched()
					}
					if d.Rank() == 0 {
						assert.NoError(t, d.Revoke())
					}
				}()
				w, err := rma.Allocate[int](ctx, d, 1)
				if err != nil {
					assert.ErrorIs(t, err, comm.ErrRevoked)
				} else {
					assert.NoError(t, w.Free())
				}
				<-revoked
				assert.NoError(t, d.Free())
			}
		})
	}
}
