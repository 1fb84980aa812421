package transporttest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// many is a number of ranks whose bits need two words.
const many = 70

// testTake checks Take and Pending around each kind of frame, for senders on both sides of the
// border between two words, and for the receiver itself.
func testTake(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, many)
	e := newEnd(w, 5)
	if e.Procs() != many || e.Me() != 5 {
		t.Fatalf("rank %d of %d, want 5 of %d", e.Me(), e.Procs(), many)
	}
	senders := []*end{e}
	for _, rank := range []int{0, 62, 63, 64, 65, many - 1} {
		senders = append(senders, newEnd(w, rank))
	}
	for _, from := range senders {
		h, payload := numbered(0, 8)
		from.TrySend(5, &h, payload)
		wantTaken(t, e, transport.Data, from.Me())
		e.Peek(from.Me())
		e.Advance(from.Me())
		from.TryControl(5, []byte("control"), 0)
		wantTaken(t, e, transport.Control, from.Me())
		e.NextControl(from.Me())
	}
}

// wantTaken requires that Take names rank from alone in one class, and no rank in the other.
func wantTaken(t *testing.T, e *end, c transport.Class, from int) {
	t.Helper()
	if !e.Pending(-1) {
		t.Fatalf("rank %d sent and nothing is pending", from)
	}
	prefix := []int{-7}
	if got := e.Take(1-c, prefix); !slices.Equal(got, prefix) {
		t.Fatalf("class %d: Take appended %v, rank %d sent in the other class", 1-c, got[1:], from)
	}
	if got := e.Take(c, prefix); !slices.Equal(got, []int{-7, from}) {
		t.Fatalf("class %d: Take returned %v, want -7 and rank %d", c, got, from)
	}
	if got := e.Take(c, nil); len(got) > 0 || e.Pending(-1) {
		t.Fatalf("class %d: %v taken twice, pending %v", c, got, e.Pending(-1))
	}
}

// testManySenders: all other ranks send to one, which polls only the ranks that Take names and
// sleeps in between. A frame without its bit would never be found.
func testManySenders(t *testing.T, factory func(t *testing.T, n int) World) {
	const frames = 60
	w := factory(t, many)
	e := newEnd(w, 0)
	data, control, all := make([]int, many), make([]int, many), 0
	e.onData = func(from int, f transport.Frame) error {
		h, payload := numbered(data[from], 8+from)
		data[from]++
		all++
		return same(f, h, payload)
	}
	e.onControl = func(from int, frame []byte) error {
		want := text(from, control[from], 1+from)
		control[from]++
		all++
		return sameText(frame, want)
	}
	parts := []func() error{func() error {
		return e.awaitAndSettle(func() bool { return all == 2*frames*(many-1) })
	}}
	for rank := 1; rank < many; rank++ {
		from := newEnd(w, rank)
		parts = append(parts, func() error { return sendBoth(from, frames) })
	}
	together(t, parts...)
	for rank := 1; rank < many; rank++ {
		if data[rank] != frames || control[rank] != frames {
			t.Errorf("%d data and %d control frames from rank %d, want %d of each", data[rank], control[rank], rank, frames)
		}
	}
}

func sendBoth(e *end, frames int) error {
	for i := range frames {
		h, payload := numbered(i, 8+e.Me())
		if err := e.send(0, h, payload); err != nil {
			return err
		}
		if err := e.sendControl(0, text(e.Me(), i, 1+e.Me())); err != nil {
			return fmt.Errorf("control frame %d: %w", i, err)
		}
	}
	return e.settle()
}

// testPendingExcept: Pending with an exception ignores the data ring of that rank, whose word the
// caller watches, and nothing else.
func testPendingExcept(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, many)
	e := newEnd(w, 0)
	for _, rank := range []int{1, 63, 64, many - 1} {
		from := newEnd(w, rank)
		h, payload := numbered(0, 8)
		from.TrySend(0, &h, payload)
		if e.Pending(rank) || !e.Pending(-1) || !e.Pending(0) || !e.Pending((rank+64)%128) {
			t.Errorf("data of rank %d: pending %v except it, %v else", rank, e.Pending(rank), e.Pending(-1))
		}
		e.Take(transport.Data, nil)
		from.TryControl(0, []byte("x"), 0)
		if !e.Pending(rank) || !e.Pending(-1) {
			t.Errorf("control of rank %d is not pending", rank)
		}
		e.Take(transport.Control, nil)
	}
}
