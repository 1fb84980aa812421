package rma

import (
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/shm/kernel"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// stripes are the locks of one member's elements in a window with Bulk. A lock is the name of its
// holder, or 0. A holder never waits, and a dead holder is detected: the next member takes the
// lock.
type stripes struct {
	watch   *engine.Watch
	numbers *members
	control window.Control
}

// lock acquires the lock of the elements at a byte, and returns the lock.
func (s *stripes) lock(at int) *uint64 {
	word, me := s.control.Stripe(at), s.numbers.Name(s.numbers.k.me)
	for tries := 0; !segment.CompareAndSwap64(word, 0, me); tries++ {
		if h := segment.Load64(word); h != 0 && h != me && s.isGone(h) && segment.CompareAndSwap64(word, h, me) {
			break
		}
		if tries&15 == 15 {
			s.watch.Yield() // the holder may have been preempted
		}
	}
	return word
}

func unlock(word *uint64) { segment.Publish64(word, 0) }

// isGone reports whether a holder stores nothing any more.
func (s *stripes) isGone(name uint64) bool {
	o, ok := s.numbers.Origin(name)
	if !ok || !s.watch.HasDeparted(o) {
		return !ok
	}
	s.watch.Silence(o)
	return true
}

// combine changes the numbers in mem, from byte at of a member's elements on, by a built-in
// operation and in; were is nil, or gets the previous values. Numbers of one stripe are changed
// together.
func (s *stripes) combine(by change, mem []byte, at int, in, were []byte) {
	do := kernel.Find(by.op(), by.elem())
	for from := 0; from < len(mem); {
		to := min(len(mem), from+window.StripeBytes-(at+from)%window.StripeBytes)
		word := s.lock(at + from)
		if were != nil {
			copy(were[from:to], mem[from:to])
		}
		do(mem[from:to], mem[from:to], in[from:to])
		unlock(word)
		from = to
	}
}

// apply changes a number by an operation and in, and returns the previous value.
func (by change) apply(e window.Element, in uint64) (prev uint64) {
	if by.adds {
		return e.Add(in)
	}
	return e.Update(by.f, in)
}

// load, swap, compareAndSwap and change are atomic operations on the number at a byte. With a nil s
// they take no lock.
func (s *stripes) load(e window.Element, at int) uint64 {
	if s != nil {
		defer unlock(s.lock(at))
	}
	return e.Load()
}

func (s *stripes) swap(e window.Element, at int, v uint64) uint64 {
	if s != nil {
		defer unlock(s.lock(at))
	}
	return e.Swap(v)
}

func (s *stripes) compareAndSwap(e window.Element, at int, old, v uint64) (prev uint64, swapped bool) {
	if s != nil {
		defer unlock(s.lock(at))
	}
	return e.CompareAndSwap(old, v)
}

// change does not hold the lock during an operation that package kernel does not have: one of the
// program may take long. If the number has changed meanwhile the operation is repeated.
func (s *stripes) change(e window.Element, at int, by change, in uint64) (prev uint64) {
	switch {
	case s == nil:
		return by.apply(e, in)
	case by.op() != 0:
		defer unlock(s.lock(at))
		prev = e.Load()
		e.Swap(by.f(prev, in))
		return prev
	}
	for {
		old := s.load(e, at)
		if _, swapped := s.compareAndSwap(e, at, old, by.f(old, in)); swapped {
			return old
		}
	}
}

// changeAll changes the numbers in mem by an operation and in, each atomically; were is nil, or
// gets the previous values.
func changeAll(s *stripes, by change, mem []byte, at int, in, were []byte) {
	switch {
	case s != nil && by.op() != 0:
		s.combine(by, mem, at, in, were)
		return
	case s == nil && were == nil:
		for off := 0; off < len(mem); off += by.size {
			by.apply(window.At(mem[off:], by.size), byteview.BitsAt(in[off:], by.size))
		}
		return
	}
	for off := 0; off < len(mem); off += by.size {
		prev := s.change(window.At(mem[off:], by.size), at+off, by, byteview.BitsAt(in[off:], by.size))
		if were != nil {
			byteview.SetBitsAt(were[off:], by.size, prev)
		}
	}
}
