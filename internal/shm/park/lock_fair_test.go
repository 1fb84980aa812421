//go:build !race

package park

import (
	"runtime"
	"sync"
	"testing"
)

// TestLockIsHandedOver: a goroutine that holds the lock nearly all of the time hands the lock to a
// waiter that was woken in vain; the lock is not free in between. (A goroutine that has handed over
// the lock and waits for it may receive the lock before one that waits longer, and has not fallen
// asleep yet.)
func TestLockIsHandedOver(t *testing.T) {
	const handovers = 20
	var l Lock
	var wg sync.WaitGroup
	turns, over := 0, false // with the lock
	for range 2 {
		wg.Go(func() {
			for done := false; !done; {
				l.Lock()
				turns++
				done = over
				l.Unlock()
			}
		})
	}
	for seen := 0; seen < handovers; {
		l.Lock()
		for range 100 {
			runtime.Gosched() // the others try, and sleep
		}
		before, starving := turns, l.starving.Load() > 0
		l.Unlock()
		if !starving {
			continue
		}
		seen++
		if !l.TryLock() {
			l.Lock()
		} else if turns == before {
			t.Fatal("the lock was free while somebody starved")
		}
		over = seen == handovers
		l.Unlock()
	}
	wg.Wait()
}
