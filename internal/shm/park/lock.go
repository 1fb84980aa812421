//go:build !race

package park

import (
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/shm/publish"
)

// A Lock is a mutex for short and seldom contended sections. Unlock is a plain store, where a
// sync.Mutex takes a locked instruction: this halves the cost of Lock and Unlock together. The next
// holder sees all stores of the section, but Unlock is not a fence.
//
// Before its store, the holder checks whether a sleeper waits for the lock, and may check too
// early:
//
//	holder               sleeper
//	sees waiters == 0
//	                     waiters++
//	held = 0             sees held == 1: the store is still on its way
//
// Such a store becomes visible soon. So a sleeper polls for a while after it has announced its
// wait, and its sleep has a bound.
//
// A holder that takes the lock again at once, and holds it for nearly all of the time, would be
// faster than each sleeper that it wakes, and would wake one each time. To prevent starvation,
// Unlock hands the lock to a waiter that was woken without getting it; held stays 1.
type Lock struct {
	held     uint64
	waiters  atomic.Int32 // in wait, without the lock
	starving atomic.Int32 // the waiters that were woken in vain
	bells    atomic.Pointer[lockBells]
}

type lockBells struct {
	look chan struct{} // the lock was released
	take chan struct{} // hands the lock to the receiver; there are receivers, and one lock
}

const (
	lockSpins    = 30                    // polls with a pause, before and after the announcement
	lockSleepMax = 10 * time.Millisecond // see Lock: hardly ever reached
)

// Lock takes the lock.
func (l *Lock) Lock() {
	if !atomic.CompareAndSwapUint64(&l.held, 0, 1) {
		l.wait()
	}
}

// TryLock reports whether it has taken the lock.
func (l *Lock) TryLock() bool { return atomic.CompareAndSwapUint64(&l.held, 0, 1) }

// Unlock releases the lock.
func (l *Lock) Unlock() {
	if l.waiters.Load() > 0 {
		l.hand()
		return
	}
	publish.Word(&l.held, 0)
}

// hand is Unlock for a lock with waiters.
//
//go:noinline
func (l *Lock) hand() {
	b := l.ring()
	if l.starving.Load() > 0 {
		b.take <- struct{}{}
		return
	}
	publish.Word(&l.held, 0)
	select {
	case b.look <- struct{}{}:
	default:
	}
}

func (l *Lock) ring() *lockBells {
	if b := l.bells.Load(); b != nil {
		return b
	}
	l.bells.CompareAndSwap(nil, &lockBells{look: make(chan struct{}, 1), take: make(chan struct{}, 1)})
	return l.bells.Load()
}

//go:noinline
func (l *Lock) wait() {
	if l.spin() {
		return
	}
	mustNotWait()
	starving := int32(0)
	l.waiters.Add(1)
	for slept := false; !l.spin(); slept = true {
		if slept && starving == 0 {
			starving = 1
			l.starving.Add(1)
		}
		if l.sleep() {
			break
		}
	}
	l.starving.Add(-starving)
	l.waiters.Add(-1)
}

// spin polls, and reports whether it has taken the lock.
func (l *Lock) spin() bool {
	for range lockSpins {
		if atomic.LoadUint64(&l.held) == 0 && l.TryLock() {
			return true
		}
		Pause(4)
	}
	return false
}

// sleep returns false when the caller should poll again, and true when an Unlock has handed over
// the lock.
func (l *Lock) sleep() bool {
	timer := time.NewTimer(lockSleepMax)
	defer timer.Stop()
	b := l.ring()
	select {
	case <-b.take:
		return true
	case <-b.look:
	case <-timer.C:
	}
	return false
}
