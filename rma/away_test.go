package rma_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/rma"
)

// TestFlushIsThere: data put before a Flush, or under a lock before an Unlock, are in place when
// the call returns. The reader is a member of the target's node that reads the memory itself and
// learns of the return without a message. The target's program waits in a Fence meanwhile.
func TestFlushIsThere(t *testing.T) {
	const rounds = 100
	put, seen := make(chan int), make(chan bool)
	commtest.Nodes{0, 1, 1}.Run(t, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		fence(ctx, t, w)
		switch c.Rank() {
		case 0:
			to := w.At(1)
			for i := 1; i <= rounds; i++ {
				if i%2 == 0 {
					assert.NoError(t, to.Put(ctx, 0, []int{i}))
					assert.NoError(t, to.Flush(ctx))
				} else {
					assert.NoError(t, to.Lock(ctx, rma.LockExclusive))
					assert.NoError(t, to.Put(ctx, 0, []int{i}))
					assert.NoError(t, to.Unlock(ctx))
				}
				put <- i
				<-seen
			}
			close(put)
		case 2:
			for i := range put {
				v, err := w.At(1).Load(ctx, 0)
				assert.NoError(t, err)
				assert.Equal(t, i, v)
				seen <- true
			}
		}
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

// TestFlushesAtTheSameTime: the puts of a goroutine are in place when its Flush returns, whichever
// flushes of other goroutines are in progress.
func TestFlushesAtTheSameTime(t *testing.T) {
	const rounds, goroutines = 2000, 4
	theirs := make([]int64, goroutines)
	commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) {
		mine := theirs
		if c.Rank() == 0 {
			mine = nil
		}
		w, err := rma.Create(ctx, c, mine)
		assert.NoError(t, err)
		if c.Rank() == 0 {
			var all sync.WaitGroup
			for g := range goroutines {
				all.Go(func() {
					for i := range int64(rounds) {
						assert.NoError(t, w.At(1).Put(ctx, g, []int64{i}))
						assert.NoError(t, w.At(1).Flush(ctx))
						if !assert.Equal(t, i, theirs[g]) {
							return
						}
					}
				})
			}
			all.Wait()
		}
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

// TestDeathHidesNoOtherError: of the errors of a flush of several targets the first one counts,
// unless that is a death and a later one is not.
func TestDeathHidesNoOtherError(t *testing.T) {
	death := &comm.Error{Op: "flush", Ranks: []int{1}, Err: comm.ErrProcFailed}
	assert.Equal(t, error(death), rma.Decisive(nil, death))
	assert.Equal(t, context.DeadlineExceeded, rma.Decisive(death, context.DeadlineExceeded))
	assert.Equal(t, context.DeadlineExceeded, rma.Decisive(context.DeadlineExceeded, death))
	assert.Equal(t, context.DeadlineExceeded, rma.Decisive(context.DeadlineExceeded, comm.ErrRevoked))
}

// TestNotificationOfALongPut: a counted notification implies all of its data, for any number of
// frames.
func TestNotificationOfALongPut(t *testing.T) {
	const n = 200_000
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int64](ctx, t, c, n, rma.Notifications(1))
		if c.Rank() == 0 {
			src := make([]int64, n)
			for i := range src {
				src[i] = int64(i)
			}
			assert.NoError(t, w.At(1).PutNotify(ctx, 0, src, 0))
		} else {
			assert.NoError(t, w.WaitNotify(ctx, 0, 1, 0))
			mine := w.Local()
			assert.Equal(t, []int64{0, n / 2, n - 1}, []int64{mine[0], mine[n/2], mine[n-1]})
		}
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

// TestTargetIsToldOfDeaths: a member that knows of a death informs the target before its next
// request, with or without an answer, so that no store of the dead takes effect there after that
// (W7). A target that shares memory needs no such frame.
func TestTargetIsToldOfDeaths(t *testing.T) {
	for _, request := range []func(ctx context.Context, to rma.Target[int]) error{
		func(ctx context.Context, to rma.Target[int]) error { return to.Put(ctx, 0, []int{1}) },
		func(ctx context.Context, to rma.Target[int]) error { return to.Get(ctx, 0, make([]int, 1)) },
	} {
		commtest.Nodes{0, 1, 2, 2}.Run(t, func(ctx context.Context, c *comm.Comm) {
			w := allocate[int](ctx, t, c, 1)
			fence(ctx, t, w)
			switch c.Rank() {
			case 1:
				commtest.Kill(c)
			case 2:
				for c.GetFailed().Size() == 0 {
					yield()
				}
				assert.NoError(t, request(ctx, w.At(0)))
				assert.Equal(t, 1, w.Told(0))
				assert.NoError(t, request(ctx, w.At(0)))
				assert.Equal(t, 1, w.Told(0))
				assert.NoError(t, request(ctx, w.At(3)))
				assert.Equal(t, 0, w.Told(3))
			}
			_, _ = w.Comm().Agree(ctx, 1)
			assert.NoError(t, w.Free())
		})
	}
}

// TestSpecW11BrokenLockGivenUp: a member asks for a broken lock in mode Mend and gives up at once.
// The owner grants the lock before it learns of that. The lock is broken as before: nothing was
// mended. If the grant arrives first, the member has the lock, and the test ends.
func TestSpecW11BrokenLockGivenUp(t *testing.T) {
	var isWhole atomic.Bool
	commtest.Nodes{0, 0, 1}.Run(t, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		if c.Rank() == 1 {
			assert.NoError(t, w.At(0).Lock(ctx, rma.LockExclusive))
		}
		fence(ctx, t, w)
		if c.Rank() == 1 {
			commtest.Kill(c)
		}
		if c.Rank() == 2 {
			wants(t, w.At(0).Lock(ctx, rma.LockExclusive), comm.ErrProcFailed, "lock", 1)
			over, cancel := context.WithCancel(ctx)
			cancel()
			for range 20 {
				err := w.At(0).Lock(over, rma.LockMend)
				if err == nil {
					assert.NoError(t, w.At(0).Unlock(ctx))
					isWhole.Store(true)
					break
				}
				assert.ErrorIs(t, err, context.Canceled)
				wants(t, w.At(0).Lock(ctx, rma.LockExclusive), comm.ErrProcFailed, "lock", 1)
			}
		}
		_, err := w.Comm().Agree(ctx, 1)
		assert.ErrorIs(t, err, comm.ErrProcFailed)
		if c.Rank() == 0 && !isWhole.Load() {
			wants(t, w.At(0).Lock(ctx, rma.LockExclusive), comm.ErrProcFailed, "lock", 1)
			assert.NoError(t, w.At(0).Lock(ctx, rma.LockMend))
			assert.NoError(t, w.At(0).Unlock(ctx))
			assert.NoError(t, w.At(0).Lock(ctx, rma.LockExclusive))
			assert.NoError(t, w.At(0).Unlock(ctx))
		}
		assert.NoError(t, w.Free())
	})
}
