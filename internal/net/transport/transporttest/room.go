package transporttest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// fillMax bounds the frames that a transport may buffer for one pair: "no room" must follow.
const fillMax = 1 << 16

// numbered returns the i-th eager frame of a size.
func numbered(i, size int) (transport.Header, []byte) {
	return newStream(uint64(i)).frame(transport.Eager, size)
}

// testRefused fills a ring until there is no room, empties the ring, and finds exactly the accepted
// frames. Then there is room again. Several rounds put the beginning of the full ring at different
// places.
func testRefused(t *testing.T, factory func(t *testing.T, n int) World) {
	for _, size := range []int{0, 8, 100, 1000, transport.EagerMax, transport.LongMax} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			w := factory(t, 2)
			a, b := newEnd(w, 0), newEnd(w, 1)
			size := min(size, eagerMax(a, 1))
			sent, got := 0, 0
			b.onData = func(_ int, f transport.Frame) error {
				h, payload := numbered(got, size)
				got++
				return same(f, h, payload)
			}
			for range 5 {
				accepted := fill(a, 1, sent, size)
				if accepted == 0 || accepted == fillMax {
					t.Fatalf("%d frames of %d bytes accepted without a reader", accepted, size)
				}
				sent += accepted
				a.WantRoom(1, true)
				if err := b.serve(); err != nil {
					t.Fatal(err)
				}
				if got != sent {
					t.Fatalf("%d frames arrived, %d were accepted", got, sent)
				}
				a.WantRoom(1, false)
			}
		})
	}
}

// fill sends the eager frames from number first on until there is no room, and returns the number
// of accepted frames.
func fill(e *end, to, first, size int) int {
	for n := range fillMax {
		h, payload := numbered(first+n, size)
		if !e.TrySend(to, &h, payload) {
			return n
		}
	}
	return fillMax
}

// testRoomWakes has a sender that almost never finds room, for each resource that can be full:
// cells, payload, both. The consumer sweeps after each frame, which is sooner than a transport
// publishes its progress by itself.
func testRoomWakes(t *testing.T, factory func(t *testing.T, n int) World) {
	const frames = 1000
	for _, size := range []int{8, 3000, transport.EagerMax, transport.LongMax} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			w := factory(t, 2)
			a, b := newEnd(w, 0), newEnd(w, 1)
			size := min(size, eagerMax(a, 1))
			got := 0
			b.onData = func(_ int, f transport.Frame) error {
				b.Sweep(0)
				h, payload := numbered(got, size)
				got++
				return same(f, h, payload)
			}
			together(t, func() error {
				for i := range frames {
					h, payload := numbered(i, size)
					if err := a.send(1, h, payload); err != nil {
						return err
					}
				}
				return a.settle()
			}, func() error { return b.awaitAndSettle(func() bool { return got == frames }) })
		})
	}
}

// testSweepIsPending: a sender that found no room, and does not sleep yet, must find the sweep that
// comes in between. Otherwise it would not wake:
//
//	sender: TrySend: no room; WantRoom        consumer: takes all, Sweep: nobody to ring
//	sender: raises its flag, asks Pending     must be true
func testSweepIsPending(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	fill(a, 1, 0, 8)
	a.WantRoom(1, true)
	if a.Pending(-1) {
		t.Fatal("Pending is true before any frame was read")
	}
	for _, ok := b.Peek(0); ok; _, ok = b.Peek(0) {
		b.Advance(0)
	}
	b.Sweep(0)
	if !a.Pending(-1) {
		t.Error("the sender would sleep although there is room")
	}
}

// testWantRoomWakes: WantRoom wakes the peer although it sends no frame. The peer may have consumed
// some frames, published nothing, and fallen asleep with either flag.
func testWantRoomWakes(t *testing.T, factory func(t *testing.T, n int) World) {
	for _, flag := range []uint32{park.Caller, park.Background} {
		w := factory(t, 2)
		a, b := newEnd(w, 0), newEnd(w, 1)
		fill(a, 1, 0, 8)
		b.Take(transport.Data, nil)
		b.Sweep(0)
		up := make(chan struct{})
		raised := sync.OnceFunc(func() { close(up) })
		together(t, func() error {
			for !b.Pending(-1) {
				b.Sleep(flag, func() bool { raised(); return b.Pending(-1) }, forever)
			}
			return nil
		}, func() error {
			<-up
			a.WantRoom(1, true)
			return nil
		})
		if got := b.Take(transport.Data, nil); !slices.Equal(got, []int{0}) {
			t.Errorf("rank 0 needs room, Take names %v", got)
		}
	}
}
