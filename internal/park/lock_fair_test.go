//go:build !race

package park

import (
	"sync"
	"testing"
)

// TestLockIsHandedOver: who has the lock nearly all of the time gives it to who was woken
// in vain, before it has it again itself.
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
		Pause(1000)
		before, starving := turns, l.starving.Load() > 0
		l.Unlock()
		if !starving {
			continue
		}
		seen++
		l.Lock()
		if turns == before {
			t.Fatal("the lock was taken again while somebody starved")
		}
		over = seen == handovers
		l.Unlock()
	}
	wg.Wait()
}
