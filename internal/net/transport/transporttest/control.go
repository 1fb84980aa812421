package transporttest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// controlRing is the capacity of a control ring in shared memory, in bytes. The lengths below are
// chosen around this value.
const controlRing = segment.ControlCells * segment.InlineBytes

// testControlLengths sends control frames of each length up to 200 bytes, then around the size of a
// ring and multiples of that size. Data frames are sent in between, and both ranks send at the same
// time.
func testControlLengths(t *testing.T, factory func(t *testing.T, n int) World) {
	var sizes []int
	for n := 1; n <= 200; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range []int{controlRing / 4, controlRing, 2 * controlRing, 5*controlRing + 7} {
		sizes = append(sizes, n-1, n, n+1)
	}
	sizes = append(sizes, transport.ControlMax, 1)

	es := ends(factory(t, 2), 2)
	var parts []func() error
	for _, e := range es {
		peer, out := 1-e.Me(), newStream(uint64(20+e.Me()))
		finished := listen(e, sizes)
		parts = append(parts, func() error {
			for i, size := range sizes {
				if err := e.sendControl(peer, text(e.Me(), i, size)); err != nil {
					return err
				}
				h, payload := out.next()
				if err := e.send(peer, h, payload); err != nil {
					return err
				}
			}
			if err := e.await(finished); err != nil {
				return err
			}
			return e.settle()
		})
	}
	together(t, parts...)
}

// listen makes e expect a control frame of each size and as many data frames from its one peer.
// finished reports whether all have arrived.
func listen(e *end, sizes []int) (finished func() bool) {
	peer := 1 - e.Me()
	in, control, data := newStream(uint64(20+peer)), 0, 0
	e.onControl = func(_ int, frame []byte) error {
		if control == len(sizes) {
			return fmt.Errorf("one control frame too many, of %d bytes", len(frame))
		}
		want := text(peer, control, sizes[control])
		control++
		return sameText(frame, want)
	}
	e.onData = func(_ int, f transport.Frame) error { data++; return in.check(f) }
	return func() bool { return control == len(sizes) && data == len(sizes) }
}

// text returns the i-th control frame from a rank.
func text(from, i, size int) []byte { return piece(newStream(uint64(from<<32+i)).rng, size) }

func sameText(got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("control frame of %d bytes differs from the %d that were sent", len(got), len(want))
	}
	return nil
}

// testControlResumes sends a frame that is longer than the transport accepts at once, and reads
// after each part: nothing arrives before the last part.
func testControlResumes(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	for round, size := range []int{controlRing + 1, 4 * controlRing, 1, transport.ControlMax / 2} {
		frame, sent, calls := text(0, round, size), 0, 0
		for sent < size {
			before := sent
			sent = a.TryControl(1, frame, sent)
			if sent <= before || sent > size {
				t.Fatalf("%d of %d bytes sent, %d before, and the ring was read", sent, size, before)
			}
			a.WantRoom(1, true)
			calls++
			got, ok := b.NextControl(0)
			if ok != (sent == size) {
				t.Fatalf("after %d of %d bytes the frame is there: %v", sent, size, ok)
			}
			if ok {
				if err := sameText(got, frame); err != nil {
					t.Fatal(err)
				}
			}
			b.Sweep(0)
		}
		if size > 4*controlRing && calls < 2 {
			t.Fatalf("%d bytes of control accepted without a reader", size)
		}
		if got, ok := b.NextControl(0); ok {
			t.Fatalf("%d bytes arrived after the only control frame", len(got))
		}
	}
}

// testControlPassesData fills the data ring and sends control frames: they arrive although no data
// frame is read.
func testControlPassesData(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	n := fill(a, 1, 0, 4000)
	for i := range 100 {
		want := text(0, i, 64)
		if got := a.TryControl(1, want, 0); got != len(want) {
			t.Fatalf("control frame %d: %d of %d bytes sent behind %d data frames", i, got, len(want), n)
		}
		got, ok := b.NextControl(0)
		if !ok {
			t.Fatalf("control frame %d waits behind data", i)
		}
		if err := sameText(got, want); err != nil {
			t.Fatal(err)
		}
	}
}
