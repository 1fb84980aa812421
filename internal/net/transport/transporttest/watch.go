package transporttest

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

// testWatch compares the watched word with Peek before and after each of 200 frames (several rounds
// of a ring).
func testWatch(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	if word, want := b.Watch(0); word != nil && atomic.LoadUint64(word) == want {
		t.Fatal("the word reports a frame before any was sent")
	}
	for i := range 200 {
		h, payload := numbered(i, i)
		if !a.TrySend(1, &h, payload) {
			t.Fatalf("frame %d: no room", i)
		}
		word, want := b.Watch(0)
		if word == nil || atomic.LoadUint64(word) != want {
			t.Fatalf("the word does not report frame %d, which is there", i)
		}
		if _, ok := b.Peek(0); !ok {
			t.Fatalf("frame %d is not there", i)
		}
		b.Advance(0)
		if word, want = b.Watch(0); word == nil || atomic.LoadUint64(word) == want {
			t.Fatalf("the word reports a frame after number %d, the last", i)
		}
	}
}

// testWatchConcurrent reads one frame after another by the word alone. Another goroutine than the
// owner of the transport's other methods loads the word.
func testWatchConcurrent(t *testing.T, factory func(t *testing.T, n int) World) {
	const frames = 2000
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	out, in := newStream(30), newStream(30)
	together(t, func() error { return flow(a, 1, out, frames) }, func() error {
		for i := range frames {
			if err := spin(b); err != nil {
				return err
			}
			f, ok := b.Peek(0)
			if !ok {
				return fmt.Errorf("frame %d: the word reports the frame, Peek does not", i)
			}
			if err := in.check(f); err != nil {
				return err
			}
			b.Advance(0)
			b.Sweep(0)
		}
		return nil
	})
}

// spin waits until the watched word of rank 0 announces a frame.
func spin(b *end) error {
	word, want := b.Watch(0)
	for word == nil {
		runtime.Gosched()
		if err := b.Broken(0); err != nil {
			return err
		}
		word, want = b.Watch(0)
	}
	seen := make(chan struct{})
	go func() {
		defer close(seen)
		for atomic.LoadUint64(word) != want {
			runtime.Gosched()
		}
	}()
	<-seen
	return nil
}

// testCreditFlows returns credit frame by frame, several times around the rings, because no other
// data may share the credit word.
func testCreditFlows(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	total := uint64(0)
	for i := range 500 {
		sendOne(t, a, 1, i)
		readOne(t, b, 0, i)
		total += uint64(10 * i)
		b.ReturnCredit(0, total)
		if got := a.CreditReturned(1); got != total {
			t.Fatalf("frame %d: %d bytes returned, want %d", i, got, total)
		}
	}
}

// testCredit: credit words belong to one pair and one direction.
func testCredit(t *testing.T, factory func(t *testing.T, n int) World) {
	es := ends(factory(t, 3), 3)
	h, payload := numbered(0, 8)
	for _, from := range es {
		for _, to := range es {
			if got := from.CreditReturned(to.Me()); got != 0 {
				t.Fatalf("credit of %d bytes before anything was sent", got)
			}
			from.TrySend(to.Me(), &h, payload)
		}
	}
	total := func(from, to, round int) uint64 { return uint64(round)<<40 + uint64(10*from+to) }
	for round := range 3 {
		for _, to := range es {
			for _, from := range es {
				to.ReturnCredit(from.Me(), total(from.Me(), to.Me(), round))
			}
		}
		for _, from := range es {
			for _, to := range es {
				if got, want := from.CreditReturned(to.Me()), total(from.Me(), to.Me(), round); got != want {
					t.Fatalf("round %d: credit from %d to %d is %#x, want %#x", round, from.Me(), to.Me(), got, want)
				}
			}
		}
	}
	for _, to := range es {
		for _, from := range es {
			if f, ok := to.Peek(from.Me()); !ok || same(f, h, payload) != nil {
				t.Fatalf("the frame from %d to %d is lost or changed: %+v", from.Me(), to.Me(), f.Header)
			}
		}
	}
}
