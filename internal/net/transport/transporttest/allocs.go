package transporttest

import (
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// testAllocations: a data frame, inline or not, costs no allocation, nor does a control frame of
// one cell or any call without a frame.
func testAllocations(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	procs := make([]int, 0, 4)
	frame := piece(newStream(0).rng, segment.InlineBytes)
	for _, c := range []struct {
		name string
		step func() error
	}{
		{"8 bytes", dataStep(a, b, 8)},
		{"4096 bytes", dataStep(a, b, 4096)},
		{"control of one cell", func() error {
			if n := a.TryControl(1, frame, 0); n != len(frame) {
				return fmt.Errorf("%d of %d bytes sent", n, len(frame))
			}
			got, ok := b.NextControl(0)
			if !ok || len(got) != len(frame) {
				return fmt.Errorf("%d of %d bytes arrived", len(got), len(frame))
			}
			return nil
		}},
		{"looking around", func() error {
			procs = b.Take(transport.Data, procs[:0])
			procs = b.Take(transport.Control, procs[:0])
			a.WantRoom(1, true)
			b.Sweep(0)
			a.WantRoom(1, false)
			b.Watch(0)
			b.ReturnCredit(0, 1)
			a.CreditReturned(1)
			b.Departure(0)
			b.Epoch()
			a.Notify(1, park.Caller)
			return nil
		}},
	} {
		var failed error
		got := testing.AllocsPerRun(500, func() {
			if err := c.step(); err != nil {
				failed = err
			}
		})
		if failed != nil || got != 0 {
			t.Errorf("%s: %v allocations, %v", c.name, got, failed)
		}
	}
}

func dataStep(a, b *end, size int) func() error {
	h, payload := numbered(0, size)
	return func() error {
		if !a.TrySend(1, &h, payload) {
			return fmt.Errorf("no room for %d bytes in a ring that was read", size)
		}
		f, ok := b.Peek(0)
		if !ok || len(f.Payload) != size {
			return fmt.Errorf("%d bytes did not arrive", size)
		}
		b.Advance(0)
		return nil
	}
}
