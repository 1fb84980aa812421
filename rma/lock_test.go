package rma_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/rma"
)

// TestLockExcludes: reads and writes under an exclusive lock, by several goroutines of several
// members, lose nothing; sharers see no writer.
func TestLockExcludes(t *testing.T) {
	const n, each = 4, 60
	run(t, n, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 2)
		work := func() {
			for i := range each {
				v := []int{0, 0}
				if i%4 == 3 {
					assert.NoError(t, w.At(1).Lock(ctx, rma.LockShared))
					assert.NoError(t, w.At(1).Get(ctx, 0, v))
					assert.Equal(t, v[0], v[1])
				} else {
					assert.NoError(t, w.At(1).Lock(ctx, rma.LockExclusive))
					assert.NoError(t, w.At(1).Get(ctx, 0, v))
					assert.NoError(t, w.At(1).Put(ctx, 0, []int{v[0] + 1}))
					assert.NoError(t, w.At(1).Put(ctx, 1, []int{v[1] + 1}))
				}
				assert.NoError(t, w.At(1).Unlock(ctx))
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			work()
		}()
		work()
		<-done
		fence(ctx, t, w)
		if c.Rank() == 1 {
			assert.Equal(t, []int{2 * n * each * 3 / 4, 2 * n * each * 3 / 4}, w.Local())
		}
		wants(t, w.At(1).Unlock(ctx), rma.ErrNotHeld, "unlock", 1)
		assert.ErrorContains(t, w.At(1).Unlock(ctx), "not held: this member does not hold the lock of rank 1")
		wants(t, w.At(1).Lock(ctx, 0), comm.ErrArgument, "lock")
		assert.NoError(t, w.Free())
	})
}

// TestSpecW11W23BrokenLock: a member dies with the lock. Waiting and new members get an error until
// one of them mends; another target's lock is not affected (W23).
func TestSpecW11W23BrokenLock(t *testing.T) {
	run(t, 4, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 2)
		if c.Rank() == 3 {
			assert.NoError(t, w.At(0).Lock(ctx, rma.LockExclusive))
			assert.NoError(t, w.At(0).Put(ctx, 0, []int{1})) // element 1 should follow
		}
		fence(ctx, t, w)
		if c.Rank() == 3 {
			commtest.Kill(c)
		}
		for _, m := range []rma.LockMode{rma.LockExclusive, rma.LockShared} {
			err := w.At(0).Lock(ctx, m)
			wants(t, err, comm.ErrProcFailed, "lock", 3)
			if err == nil {
				assert.NoError(t, w.At(0).Unlock(ctx))
			}
		}
		wants(t, w.LockAll(ctx), comm.ErrProcFailed, "lock_all", 3, 3) // the dead holder, and the dead target
		var noContext context.Context
		wants(t, w.UnlockAll(noContext), comm.ErrArgument, "unlock_all")
		assert.NoError(t, w.UnlockAll(ctx))
		assert.NoError(t, w.At(1).Lock(ctx, rma.LockExclusive), "W23")
		assert.NoError(t, w.At(1).Unlock(ctx))
		_, err := w.Comm().Agree(ctx, 1)
		assert.ErrorIs(t, err, comm.ErrProcFailed)
		assert.NoError(t, w.At(0).Lock(ctx, rma.LockMend))
		v := []int{0, 0}
		assert.NoError(t, w.At(0).Get(ctx, 0, v))
		if v[0] != v[1] {
			assert.NoError(t, w.At(0).Put(ctx, 1, v[:1]))
		}
		assert.NoError(t, w.At(0).Unlock(ctx))
		assert.NoError(t, w.At(0).Lock(ctx, rma.LockExclusive), "it is whole")
		assert.NoError(t, w.At(0).Get(ctx, 0, v))
		assert.Equal(t, []int{1, 1}, v)
		assert.NoError(t, w.At(0).Unlock(ctx))
		assert.NoError(t, w.Free())
	})
}

// TestSpecW10W12DeadSharersAndWaiters: a share of the dead is free, and the death of a member that
// waits behind a holder has no effect on others.
func TestSpecW10W12DeadSharersAndWaiters(t *testing.T) {
	run(t, 4, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		switch c.Rank() {
		case 2:
			assert.NoError(t, w.At(1).Lock(ctx, rma.LockShared))
		case 0:
			assert.NoError(t, w.At(0).Lock(ctx, rma.LockExclusive))
		}
		fence(ctx, t, w)
		switch c.Rank() {
		case 2:
			commtest.Kill(c)
		case 3:
			killed := make(chan struct{})
			go func() {
				defer close(killed)
				for range 500 {
					yield()
				}
				commtest.Kill(c)
			}()
			assert.ErrorIs(t, w.At(0).Lock(ctx, rma.LockExclusive), comm.ErrFenced)
			<-killed
			return
		}
		assert.NoError(t, commtest.AwaitFailure(ctx, c, 2))
		if c.Rank() == 0 {
			assert.NoError(t, w.At(0).Unlock(ctx))
		}
		for target := range 2 {
			assert.NoError(t, w.At(target).Lock(ctx, rma.LockExclusive))
			assert.NoError(t, w.At(target).Unlock(ctx))
		}
		_, _ = w.Comm().Agree(ctx, 1)
		assert.NoError(t, w.Free())
	})
}

// TestSpecW13LockOfADeadTarget: Lock and Unlock on a dead target return an error, and its holder
// holds the lock no longer after the Unlock.
func TestSpecW13LockOfADeadTarget(t *testing.T) {
	run(t, 3, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		if c.Rank() == 0 {
			assert.NoError(t, w.At(2).Lock(ctx, rma.LockExclusive))
		}
		fence(ctx, t, w)
		switch c.Rank() {
		case 2:
			commtest.Kill(c)
		case 1:
			wants(t, w.At(2).Lock(ctx, rma.LockExclusive), comm.ErrProcFailed, "lock", 2) // the caller waits, or not
			assert.NoError(t, w.At(0).Store(ctx, 0, 1))
		case 0:
			_, err := w.Wait(ctx, 0, func(v int) bool { return v == 1 }, 1)
			assert.NoError(t, err)
			wants(t, w.At(2).Unlock(ctx), comm.ErrProcFailed, "unlock", 2)
			wants(t, w.At(2).Unlock(ctx), rma.ErrNotHeld, "unlock", 2)
		}
		_, _ = w.Comm().Agree(ctx, 1)
		assert.NoError(t, w.Free())
	})
}

// TestLockIsWithdrawn: when its context ends, a wait leaves nothing.
func TestLockIsWithdrawn(t *testing.T) {
	run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int](ctx, t, c, 1)
		if c.Rank() == 0 {
			assert.NoError(t, w.At(0).Lock(ctx, rma.LockExclusive))
		}
		fence(ctx, t, w)
		if c.Rank() == 1 {
			for _, m := range []rma.LockMode{rma.LockShared, rma.LockExclusive, rma.LockMend} {
				over, cancel := context.WithCancel(ctx)
				cancel()
				assert.ErrorIs(t, w.At(0).Lock(over, m), context.Canceled)
			}
		}
		fence(ctx, t, w)
		if c.Rank() == 0 {
			assert.NoError(t, w.At(0).Unlock(ctx))
		}
		assert.NoError(t, w.LockAll(ctx))
		wants(t, w.LockAll(ctx), comm.ErrArgument, "lock_all")
		assert.NoError(t, w.UnlockAll(ctx))
		wants(t, w.UnlockAll(ctx), rma.ErrNotHeld, "unlock_all")
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}
