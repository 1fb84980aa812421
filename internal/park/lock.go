//go:build !race

package park

import (
	"sync/atomic"
	"time"
)

// A Lock is a mutex for what is held shortly and seldom contended. It is given back by a
// plain store, where a sync.Mutex takes a locked instruction: half of what taking and
// giving back costs. So what was written under it is seen by who takes it next, but nobody
// may take the Unlock for a fence.
//
// Who gives the lock back looks afterwards whether anybody sleeps for it, and may look too
// early:
//
//	holder               sleeper
//	held = 0             waiters++
//	sees waiters == 0    sees held == 1: the store is still on its way
//
// Such a store is not on its way for long. So a sleeper looks for a while after it has said
// that it waits, and sleeps not for ever.
type Lock struct {
	held    uint64
	waiters atomic.Int32
	wake    atomic.Pointer[chan struct{}]
}

const (
	lockSpins   = 30                    // looks with a pause, before and after saying so
	lockSleeMax = 10 * time.Millisecond // see Lock: hardly ever that long
)

// Lock takes the lock.
func (l *Lock) Lock() {
	if !atomic.CompareAndSwapUint64(&l.held, 0, 1) {
		l.wait()
	}
}

// TryLock says whether it has taken the lock.
func (l *Lock) TryLock() bool { return atomic.CompareAndSwapUint64(&l.held, 0, 1) }

// Unlock gives the lock back.
func (l *Lock) Unlock() {
	release(&l.held)
	if l.waiters.Load() > 0 {
		l.wakeOne()
	}
}

func (l *Lock) spin() (taken bool) {
	for range lockSpins {
		if atomic.LoadUint64(&l.held) == 0 && l.TryLock() {
			return true
		}
		Pause(4)
	}
	return false
}

//go:noinline
func (l *Lock) wait() {
	if l.spin() {
		return
	}
	wake := l.bell()
	l.waiters.Add(1)
	defer l.waiters.Add(-1)
	for !l.spin() {
		timer := time.NewTimer(lockSleeMax)
		select {
		case <-wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (l *Lock) bell() chan struct{} {
	if l.wake.Load() == nil {
		wake := make(chan struct{}, 1)
		l.wake.CompareAndSwap(nil, &wake)
	}
	return *l.wake.Load()
}

//go:noinline
func (l *Lock) wakeOne() {
	select {
	case l.bell() <- struct{}{}:
	default:
	}
}
