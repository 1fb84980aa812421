package park

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// TestLock: one goroutine at a time is inside, on any number of processors, also where the waiters
// have to sleep.
func TestLock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(procs)
		for _, inside := range []int{0, 1, 300} {
			t.Run(fmt.Sprintf("%d processors, %d yields inside", procs, inside), func(t *testing.T) {
				const goroutines, rounds = 8, 200
				var l Lock
				var wg sync.WaitGroup
				in, total := 0, 0
				for range goroutines {
					wg.Go(func() {
						for range rounds {
							l.Lock()
							if in++; in != 1 {
								t.Errorf("%d goroutines are inside", in)
							}
							for range inside {
								runtime.Gosched()
							}
							total++
							in--
							l.Unlock()
						}
					})
				}
				wg.Wait()
				if total != goroutines*rounds {
					t.Errorf("%d times inside, want %d", total, goroutines*rounds)
				}
			})
		}
	}
}

// TestTryLock: TryLock takes a free lock, and never waits.
func TestTryLock(t *testing.T) {
	var l Lock
	if !l.TryLock() {
		t.Fatal("a lock that nobody has was not taken")
	}
	if l.TryLock() {
		t.Fatal("a lock was taken twice")
	}
	l.Unlock()
	if !l.TryLock() {
		t.Fatal("a lock that was given back was not taken")
	}
}

// TestLockWakes: each of many sleepers for the lock is woken in turn.
func TestLockWakes(t *testing.T) {
	const sleepers = 5
	var l Lock
	l.Lock()
	ended := make(chan int, sleepers)
	for i := range sleepers {
		go func() {
			l.Lock()
			ended <- i
			l.Unlock()
		}()
	}
	for range 1000 { // until they sleep, or nearly
		runtime.Gosched()
	}
	select {
	case i := <-ended:
		t.Fatalf("goroutine %d is inside with the one that has the lock", i)
	default:
	}
	l.Unlock()
	for range sleepers {
		<-ended
	}
}

// BenchmarkLock compares with a sync.Mutex: alone, and with others.
func BenchmarkLock(b *testing.B) {
	for _, goroutines := range []int{1, 2, 8} {
		for name, l := range map[string]interface {
			Lock()
			Unlock()
		}{"Lock": new(Lock), "Mutex": new(sync.Mutex)} {
			b.Run(fmt.Sprintf("%s/%d", name, goroutines), func(b *testing.B) {
				var wg sync.WaitGroup
				n := 0
				for range goroutines {
					wg.Go(func() {
						for range b.N / goroutines {
							l.Lock()
							for range 10 {
								n++
							}
							l.Unlock()
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
