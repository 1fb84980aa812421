package publish

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestPublishedBeforeAFence: two goroutines each store a word, Fence, and load the other's word. At
// least one sees the other's store. Without the Fence both miss the stores within a few thousand
// rounds, on processors with a store buffer.
func TestPublishedBeforeAFence(t *testing.T) {
	oneSees(t, longtest.N(20_000, 200_000), [2]func(){Fence, Fence})
}

// TestFenceAllIsForBoth: a FenceAll of one of the two is enough.
func TestFenceAllIsForBoth(t *testing.T) {
	if !Register() || !FenceAll() {
		t.Skip("the kernel has no membarrier")
	}
	oneSees(t, 20_000, [2]func(){func() {}, func() { FenceAll() }})
}

// oneSees makes two goroutines store a word and load the other's, with the given fences in between.
func oneSees(t *testing.T, rounds int, fence [2]func()) {
	var words [2]struct {
		v uint64
		_ [120]byte
	}
	saw := [2][]bool{make([]bool, rounds), make([]bool, rounds)}
	var start [2]atomic.Uint64
	play := func(me int) {
		for k := uint64(1); k <= uint64(rounds); k++ {
			start[me].Store(k)
			for spins := 0; start[1-me].Load() < k; spins++ {
				yieldAfter(spins)
			}
			Word(&words[me].v, k)
			fence[me]()
			saw[me][k-1] = atomic.LoadUint64(&words[1-me].v) >= k
		}
	}
	done := make(chan struct{})
	go func() { play(1); close(done) }()
	play(0)
	<-done
	for k := range rounds {
		if !saw[0][k] && !saw[1][k] {
			t.Fatalf("round %d: neither has seen the other's store", k)
		}
	}
}

// TestPublishedInOrder: a reader that sees a published word sees all earlier words.
func TestPublishedInOrder(t *testing.T) {
	const rounds = 500_000
	var data, word uint64
	go func() {
		for k := uint64(1); k <= rounds; k++ {
			Word(&data, k)
			Word(&word, k)
		}
	}()
	for spins, last := 0, uint64(0); last < rounds; spins++ {
		last = atomic.LoadUint64(&word)
		if got := atomic.LoadUint64(&data); got < last {
			t.Fatalf("%d is published, and what was stored before it is %d", last, got)
		}
		yieldAfter(spins)
	}
}

// yieldAfter lets other goroutines run on a single processor.
func yieldAfter(spins int) {
	if spins%1000 == 999 {
		runtime.Gosched()
	}
}
