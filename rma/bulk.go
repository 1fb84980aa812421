package rma

import (
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/kernel"
	"github.com/goulfm/goulfm/internal/segment"
	"github.com/goulfm/goulfm/internal/view"
	"github.com/goulfm/goulfm/internal/window"
)

// stripes are the locks of one member's elements in a window with Bulk. A lock is the name of its holder, or 0. Nobody waits
// while it has one, and who dies with it is seen to be dead: the next takes it.
type stripes struct {
	watch   *engine.Watch
	numbers *members
	control window.Control
}

// lock gets the lock of the elements at a byte, and returns it.
func (s *stripes) lock(at int) *uint64 {
	word, me := s.control.Stripe(at), s.numbers.Name(s.numbers.k.me)
	for tries := 0; !segment.CompareAndSwap64(word, 0, me); tries++ {
		if h := segment.Load64(word); h != 0 && h != me && s.isGone(h) && segment.CompareAndSwap64(word, h, me) {
			break
		}
		if tries&15 == 15 {
			s.watch.Yield() // its holder may have lost its core
		}
	}
	return word
}

func unlock(word *uint64) { segment.Publish64(word, 0) }

// isGone says whether a holder stores nothing any more.
func (s *stripes) isGone(name uint64) bool {
	o, ok := s.numbers.Origin(name)
	if !ok || !s.watch.HasDeparted(o) {
		return !ok
	}
	s.watch.Silence(o)
	return true
}

// combine changes the numbers in mem, from byte at of a member's elements on, by a built-in operation and in; were is nil, or
// gets what was there. Numbers of one stripe are changed together.
func (s *stripes) combine(c change, mem []byte, at int, in, were []byte) {
	do := kernel.Find(c.op, c.elem)
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

// cell is one number of a member, for atomic operations.
type cell struct {
	e       window.Element
	stripes *stripes // nil: each is an instruction
	at      int
}

func (c cell) load() uint64 {
	if c.stripes != nil {
		defer unlock(c.stripes.lock(c.at))
	}
	return c.e.Load()
}

func (c cell) swap(v uint64) uint64 {
	if c.stripes != nil {
		defer unlock(c.stripes.lock(c.at))
	}
	return c.e.Swap(v)
}

func (c cell) compareAndSwap(old, v uint64) (prev uint64, swapped bool) {
	if c.stripes != nil {
		defer unlock(c.stripes.lock(c.at))
	}
	return c.e.CompareAndSwap(old, v)
}

// change changes the number by an operation and in, and returns what was there. One of the program is made without a lock: it may take
// long, and it is made again if the number has changed meanwhile.
func (c cell) change(by change, in uint64) (prev uint64) {
	switch {
	case c.stripes == nil && by.adds:
		return c.e.Add(in)
	case c.stripes == nil:
		return c.e.Update(by.f, in)
	case by.op != 0:
		defer unlock(c.stripes.lock(c.at))
		prev = c.e.Load()
		c.e.Swap(by.f(prev, in))
		return prev
	}
	for {
		old := c.load()
		if _, swapped := c.compareAndSwap(old, by.f(old, in)); swapped {
			return old
		}
	}
}

// cellAt is the number of size bytes at which mem begins, byte at of a member's elements.
func cellAt(s *stripes, mem []byte, at, size int) cell {
	return cell{window.At(mem, size), s, at}
}

// changeAll changes the numbers in mem by an operation and in, each atomically; were is nil, or gets what was there.
func changeAll(s *stripes, by change, mem []byte, at int, in, were []byte) {
	if s != nil && by.op != 0 {
		s.combine(by, mem, at, in, were)
		return
	}
	for off := 0; off < len(mem); off += by.size {
		prev := cellAt(s, mem[off:], at+off, by.size).change(by, view.BitsAt(in[off:], by.size))
		if were != nil {
			view.SetBitsAt(were[off:], by.size, prev)
		}
	}
}
