package transporttest

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// testLengths sends each kind at each length around a limit, between two ranks and from a rank to
// itself. It peeks each frame twice, because Peek takes nothing.
func testLengths(t *testing.T, factory func(t *testing.T, n int) World) {
	es := ends(factory(t, 2), 2)
	s := newStream(1)
	for _, k := range []transport.Kind{transport.Eager, transport.Announce, transport.Chunk} {
		for _, size := range lengths(k) {
			for i := range 4 {
				from, to := es[i&1], es[i>>1]
				if k == transport.Eager && size > eagerMax(from, to.Me()) {
					continue
				}
				h, payload := s.frame(k, size)
				if !from.TrySend(to.Me(), &h, payload) {
					t.Fatalf("no room for %+v in an empty ring", h)
				}
				for range 2 {
					f, ok := to.Peek(from.Me())
					if !ok {
						t.Fatalf("%+v did not arrive: %v", h, to.Broken(from.Me()))
					}
					if err := same(f, h, payload); err != nil {
						t.Fatal(err)
					}
					wantInline(t, to, from.Me(), &f)
				}
				to.Advance(from.Me())
				if f, ok := to.Peek(from.Me()); ok {
					t.Fatalf("%+v arrived after the only frame was taken", f.Header)
				}
			}
		}
	}
}

// wantInline: on a Port, NextInline must return the same frame as Peek if the frame is a message
// inside its cell, and nothing otherwise.
func wantInline(t *testing.T, to *end, from int, f *transport.Frame) {
	t.Helper()
	p, ok := to.Link.(*transport.Port)
	if !ok {
		return
	}
	l, payload, ok := p.NextInline(from)
	if want := f.Kind == transport.Eager && f.Size <= segment.InlineBytes; ok != want {
		t.Fatalf("%+v: NextInline returns %v", f.Header, ok)
	}
	if ok && (l != transport.Label{Ctx: f.Ctx, Tag: f.Tag, Elem: f.Elem} || !bytes.Equal(payload, f.Payload)) {
		t.Fatalf("%+v: NextInline returns %+v and %d bytes", f.Header, l, len(payload))
	}
}

func lengths(k transport.Kind) []int {
	switch k {
	case transport.Announce:
		return []int{0, 1, transport.EagerMax + 1, 1<<32 + 7, transport.SizeMax}
	case transport.Chunk:
		return []int{0, 1, 39, 40, 41, 63, 64, 65, 128, transport.ChunkMax - 1, transport.ChunkMax}
	}
	return []int{0, 1, 8, 39, 40, 41, 63, 64, 65, 127, 128, 129, transport.ShortMax, transport.ShortMax + 1, 4096, 4097, transport.EagerMax - 65,
		transport.EagerMax - 64, transport.EagerMax - 63, transport.EagerMax - 1, transport.EagerMax,
		transport.EagerMax + 1, 30_000, transport.LongMax - 64, transport.LongMax - 1, transport.LongMax}
}

// testOrder has a consumer that takes a few frames at a time and keeps the ring full.
func testOrder(t *testing.T, factory func(t *testing.T, n int) World) {
	const frames = 3000
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	together(t, func() error { return flow(a, 1, newStream(2), frames) }, func() error {
		s, rng := newStream(2), rand.New(rand.NewPCG(3, 0))
		for got := 0; got < frames; {
			b.procs = b.Take(transport.Data, b.procs[:0])
			b.procs = b.Take(transport.Control, b.procs[:0])
			f, ok := b.Peek(0)
			if !ok {
				b.Sweep(0)
				b.Sleep(park.Caller, func() bool { return b.Pending(-1) }, forever)
				continue
			}
			for n := 1 + rng.IntN(5); ok && n > 0 && got < frames; n-- {
				if err := s.check(f); err != nil {
					return err
				}
				b.Advance(0)
				got++
				f, ok = b.Peek(0)
			}
			b.Sweep(0)
			runtime.Gosched()
		}
		return b.settle()
	})
}

// testOpened: payloads sent before and after the ring for long ones opens arrive in order, whether
// or not the receiver has polled in between.
func testOpened(t *testing.T, factory func(t *testing.T, n int) World) {
	for _, looks := range []bool{false, true} {
		es := ends(factory(t, 2), 2)
		from, to, sent, got := es[0], es[1], newStream(4), newStream(4)
		sent.only, got.only = transport.Eager, transport.Eager
		send := func() {
			for range 6 { // of up to EagerMax, as got expects
				if h, payload := sent.next(); !from.TrySend(1, &h, payload) {
					t.Fatalf("no room for %+v", h)
				}
			}
		}
		take := func(n int) {
			for range n {
				f, ok := to.Peek(0)
				if !ok {
					t.Fatalf("looks %v: a frame is missing: %v", looks, to.Broken(0))
				}
				if err := got.check(f); err != nil {
					t.Fatalf("looks %v: %v", looks, err)
				}
				to.Advance(0)
			}
		}
		send()
		if looks {
			take(3)
		}
		eagerMax(from, 1) // opens the ring
		send()
		if looks {
			take(9)
		} else {
			take(12)
		}
	}
}

// flow sends n frames of a stream and then serves until nothing is left to do.
func flow(e *end, to int, s *stream, n int) error {
	for range n {
		h, payload := s.next()
		if err := e.send(to, h, payload); err != nil {
			return err
		}
	}
	return e.settle()
}

// testWrap sends 10^4 payloads of random sizes in each direction at the same time. They cover each
// position in the payload ring, and each rest that is skipped at its end.
//
// Where longer payloads have a ring of their own, a tenth of that number uses both rings.
func testWrap(t *testing.T, factory func(t *testing.T, n int) World) {
	wrap(t, factory, 10000, func(*end, int) int { return transport.EagerMax })
	wrap(t, factory, 1000, eagerMax)
}

func wrap(t *testing.T, factory func(t *testing.T, n int) World, frames int, sizeMax func(e *end, to int) int) {
	es := ends(factory(t, 2), 2)
	var parts []func() error
	for _, e := range es {
		peer := 1 - e.Me()
		out, in, got := newStream(uint64(10+e.Me())), newStream(uint64(10+peer)), 0
		out.only, in.only = transport.Eager, transport.Eager
		out.sizeMax, in.sizeMax = sizeMax(e, peer), sizeMax(es[peer], e.Me())
		e.onData = func(_ int, f transport.Frame) error { got++; return in.check(f) }
		parts = append(parts, func() error {
			if err := flow(e, peer, out, frames); err != nil {
				return err
			}
			if err := e.await(func() bool { return got == frames }); err != nil {
				return err
			}
			return e.settle()
		})
	}
	together(t, parts...)
}

// testAddress: an announced message carries its address.
func testAddress(t *testing.T, factory func(t *testing.T, n int) World) {
	w := factory(t, 2)
	a, b := newEnd(w, 0), newEnd(w, 1)
	sent := transport.Header{Kind: transport.Announce, Size: 1 << 20, Handle: 7, Addr: 1 << 40, Transfer: 3}
	if !a.TrySend(1, &sent, nil) {
		t.Fatal("no room")
	}
	if f, ok := b.Peek(0); !ok || f.Header != sent {
		t.Errorf("%+v, sent was %+v", f.Header, sent)
	}
}
