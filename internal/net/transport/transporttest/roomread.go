package transporttest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// joined returns two ranks that have exchanged frames of both classes in both directions.
func joined(t *testing.T, factory func(t *testing.T, n int) World) (a, b *end) {
	w := factory(t, 2)
	a, b = newEnd(w, 0), newEnd(w, 1)
	var parts []func() error
	for me, e := range []*end{a, b} {
		got := 0
		e.onData = func(int, transport.Frame) error { got++; return nil }
		e.onControl = func(int, []byte) error { got++; return nil }
		parts = append(parts, func() error {
			h, payload := numbered(0, 8)
			if err := e.send(1-me, h, payload); err != nil {
				return err
			}
			if err := e.sendControl(1-me, payload); err != nil {
				return err
			}
			return e.awaitAndSettle(func() bool { return got == 2 })
		})
	}
	together(t, parts...)
	return a, b
}

// count counts the frames that a rank receives from now on.
func (e *end) count() *int {
	got := new(int)
	e.onData = func(int, transport.Frame) error { *got++; return nil }
	e.onControl = func(int, []byte) error { *got++; return nil }
	return got
}

// testRoomRead: a call that reads between two calls of Take, and finds no frame, must not hide that
// there is room for a refused frame. Otherwise the sender would not wake:
//
//	one goroutine: TrySend: no room; WantRoom     consumer: takes all, Sweep
//	another one: Peek: no frame
//	any of them: asks Pending                     must be true
func testRoomRead(t *testing.T, factory func(t *testing.T, n int) World) {
	for _, c := range [2]transport.Class{transport.Data, transport.Control} {
		t.Run(fmt.Sprint("class ", c), func(t *testing.T) {
			a, b := joined(t, factory)
			sent, got := 0, b.count()
			for a.tryOne(c) {
				if sent++; sent == fillMax {
					t.Fatal("no frame is refused")
				}
			}
			a.WantRoom(1, true)
			together(t, func() error {
				for *got < sent {
					a.Take(1-c, nil) // continues to write
					if err := errors.Join(a.drain(1, c), b.drain(0, c)); err != nil {
						return err
					}
				}
				b.Sweep(0)
				for {
					if err := a.drain(1, c); err != nil {
						return err
					}
					pending := a.Pending(-1)
					if a.tryOne(c) && !pending {
						return errors.New("the sender would sleep although there is room")
					} else if pending {
						return nil
					}
				}
			})
		})
	}
}

// tryOne sends a small frame to rank 1, and reports whether there was room.
func (e *end) tryOne(c transport.Class) bool {
	if c == transport.Control {
		return e.TryControl(1, make([]byte, 8), 0) > 0
	}
	h, payload := numbered(0, 8)
	return e.TrySend(1, &h, payload)
}
