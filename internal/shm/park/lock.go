//go:build !race

package park

import (
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/shm/publish"
)

// A Lock is a mutex for what is held shortly and seldom contended. It is given back by a
// plain store, where a sync.Mutex takes a locked instruction: half of what taking and
// giving back costs. So what was written under it is seen by who takes it next, but nobody
// may take the Unlock for a fence.
//
// Who gives the lock back looks before whether anybody sleeps for it, and may look too
// early:
//
//	holder               sleeper
//	sees waiters == 0
//	                     waiters++
//	held = 0             sees held == 1: the store is still on its way
//
// Such a store is not on its way for long. So a sleeper looks for a while after it has said
// that it waits, and sleeps not for ever.
//
// A holder that takes the lock again at once, and holds it for nearly all of the time,
// would be faster than each sleeper that it wakes, and would wake one each time. So who was
// woken in vain is given the lock by who has it: held stays 1.
type Lock struct {
	held     uint64
	waiters  atomic.Int32 // in wait, without the lock
	starving atomic.Int32 // those of them that were woken in vain
	bells    atomic.Pointer[lockBells]
}

type lockBells struct {
	look chan struct{} // the lock was given back
	take chan struct{} // the lock is the receiver's; there are receivers, and one lock
}

const (
	lockSpins    = 30                    // looks with a pause, before and after saying so
	lockSleepMax = 10 * time.Millisecond // see Lock: hardly ever that long
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
	if l.waiters.Load() > 0 {
		l.hand()
		return
	}
	publish.Word(&l.held, 0)
}

// hand is Unlock where somebody waits.
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

// spin says whether it has taken the lock.
func (l *Lock) spin() bool {
	for range lockSpins {
		if atomic.LoadUint64(&l.held) == 0 && l.TryLock() {
			return true
		}
		Pause(4)
	}
	return false
}

// sleep returns when it is time to look again, or true: it was given the lock.
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
