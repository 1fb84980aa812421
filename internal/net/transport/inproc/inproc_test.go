package inproc

import (
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/transporttest"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// world is a World with the methods that the conformance suite needs.
type world struct{ *World }

func (w world) Port(rank int) transport.End { return w.World.Port(rank) }

func (w world) Arena(rank int) *segment.Arena { return w.arenas[rank] }

func TestConformance(t *testing.T) {
	transporttest.Run(t, func(_ *testing.T, n int) transporttest.World { return world{New(n)} })
}

func TestScribble(t *testing.T) {
	transporttest.Scribble(t, func(_ *testing.T, n int) transporttest.SharedWorld { return world{New(n)} })
}

// TestSweepTellsEachFrame: a consumer that took two frames, fewer than it publishes by itself,
// makes room for one by a sweep. The producer may ask for room before or after. One frame would
// not suffice: a payload may also need the unused end of the ring.
func TestSweepTellsEachFrame(t *testing.T) {
	for _, size := range []int{8, 3000, transport.EagerMax} {
		w := New(2)
		from, to, payload := w.Port(0).Link, w.Port(1).Link, make([]byte, size)
		h := transport.Header{Kind: transport.Eager, Size: size}
		for from.TrySend(1, &h, payload) {
		}
		for i := range 100 {
			if i%2 == 0 {
				from.WantRoom(1, true)
			}
			for range 2 {
				if _, ok := to.Peek(0); ok {
					to.Advance(0)
				}
			}
			if i%2 == 1 {
				from.WantRoom(1, true)
			}
			to.Sweep(0)
			if !from.TrySend(1, &h, payload) {
				t.Fatalf("%d bytes, round %d: no room after frames were taken and swept", size, i)
			}
			for from.TrySend(1, &h, payload) {
			}
			from.WantRoom(1, false)
		}
	}
}

// FuzzCell makes a peer publish an arbitrary cell in place of a good one. The frame read from the
// cell is within the limits, or the peer counts as broken.
func FuzzCell(f *testing.F) {
	inline := make([]byte, segment.InlineBytes)
	f.Add(uint64(1), 8<<24|uint64(transport.Eager)<<8, inline)
	f.Add(uint64(1), 4096<<24|uint64(transport.Eager)<<8|1, []byte{0, 16})
	f.Add(uint64(1), 4096<<24|uint64(transport.Chunk)<<8|1, append(make([]byte, 17), 16))
	f.Add(uint64(1), 1<<40|uint64(transport.Announce)<<8|2, inline)
	f.Add(uint64(40), uint64(40), inline)
	f.Add(uint64(1<<20), uint64(40), inline)
	f.Add(uint64(1<<20+1), uint64(40), inline)
	f.Fuzz(func(t *testing.T, word1, word2 uint64, inline []byte) {
		for _, kind := range []segment.Kind{segment.Data, segment.Control} {
			w := New(2)
			to, ring := w.Port(0).Link.(*transport.Port), publish(w, kind)
			to.Peek(1)
			to.Advance(1)
			to.NextControl(1)
			ring.Cells[1].SetWords(word1, word2)
			copy(ring.Cells[1].Inline[:], inline)
			if kind == segment.Data {
				checkData(t, to)
			} else {
				checkControl(t, to, word1, word2)
			}
		}
	})
}

func checkData(t *testing.T, to *transport.Port) {
	frame, ok := to.Peek(1)
	switch {
	case ok == (to.Broken(1) != nil):
		t.Fatalf("a frame: %v, broken: %v", ok, to.Broken(1))
	case !ok || frame.Kind == transport.Announce:
	case len(frame.Payload) != frame.Size || frame.Size > transport.EagerMax:
		t.Fatalf("%+v with %d bytes", frame.Header, len(frame.Payload))
	case frame.Offset < 0 || frame.Offset > transport.SizeMax-frame.Size:
		t.Fatalf("%+v ends beyond any message", frame.Header)
	}
}

func checkControl(t *testing.T, to *transport.Port, length, here uint64) {
	frame, ok := to.NextControl(1)
	good := length <= transport.ControlMax && here > 0 && here <= segment.InlineBytes && here <= length
	switch {
	case good == (to.Broken(1) != nil):
		t.Fatalf("%d bytes of %d: broken: %v", here, length, to.Broken(1))
	case ok != (good && here == length):
		t.Fatalf("%d bytes of %d read as a frame of %d, %v", here, length, len(frame), ok)
	case ok && uint64(len(frame)) != length:
		t.Fatalf("frame of %d bytes read as %d", length, len(frame))
	}
}

// publish makes rank 1 send two frames of each class to rank 0, and returns the ring of one kind.
func publish(w *World, kind segment.Kind) *segment.Ring {
	from := w.Port(1).Link
	h, payload := transport.Header{Kind: transport.Eager, Size: 4096}, make([]byte, 4096)
	for range 2 {
		from.TrySend(0, &h, payload)
		from.TryControl(0, []byte("control"), 0)
	}
	ring, err := w.arenas[1].Find(kind, 0, 0)
	if err != nil {
		panic(err) // rank 1 has opened the ring a line above
	}
	return ring
}

// TestVacatedSlotStaysClosed: the slot stays closed until a process of another generation has it.
// Frames that the earlier process left in its rings are not received, and no ring is opened for
// that process.
func TestVacatedSlotStaysClosed(t *testing.T) {
	w := New(2)
	gone, port := w.Port(0).Link.(*transport.Port), w.Port(1).Link.(*transport.Port)
	for _, text := range []string{"first", "second"} {
		if n := gone.TryControl(1, []byte(text), 0); n != len(text) {
			t.Fatalf("sent %d bytes of %q", n, text)
		}
	}
	if frame, ok := port.NextControl(0); !ok || string(frame) != "first" {
		t.Fatalf("%q, %v", frame, ok)
	}
	port.Vacate(0)
	if frame, ok := port.NextControl(0); ok {
		t.Errorf("heard of a vacated slot: %q", frame)
	}
	if n := port.TryControl(0, []byte("an answer"), 0); n != len("an answer") {
		t.Errorf("sent %d bytes", n)
	}
	if frame, ok := gone.NextControl(1); ok {
		t.Errorf("a vacated slot has heard %q", frame)
	}
	if !port.TrySend(0, &transport.Header{Kind: transport.Eager}, nil) {
		t.Error("no room towards a vacated slot")
	}

	w.node.Vacate(0) // for the next process
	if n := port.TryControl(0, []byte("hello"), 0); n != len("hello") {
		t.Errorf("sent %d bytes", n)
	}
	next := w.Port(0).Link
	if frame, ok := next.NextControl(1); !ok || string(frame) != "hello" {
		t.Errorf("the next one in the slot has heard %q, %v", frame, ok)
	}
}
