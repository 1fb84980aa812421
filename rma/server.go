package rma

import (
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/rmaserver"
	"github.com/goulfm/goulfm/internal/protocol/robustlock"
	"github.com/goulfm/goulfm/internal/shm/kernel"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// server executes the frames of members that are away on this member's memory, until all have freed
// the window. The caller of its methods holds the lock of the process; any goroutine that makes
// progress may be the caller.
type server struct {
	watch   *engine.Watch
	data    []byte // of the elements, independent of views
	control window.Control
	remote  []remote
	stripes *stripes
	target  *rmaserver.Target

	counters int // of notifications
}

// lend makes this member's memory available to the members that are away, before any of them knows
// its location.
func (k *creation) lend(p *piece) {
	k.numbers = &members{k: k.core, numbers: k.c.Group().Processes()}
	if k.away == nil {
		return
	}
	k.remote = make([]remote, k.n)
	s := &server{watch: k.watch, data: p.memory.Bytes()[:k.spec.n*k.unit], control: window.ControlOf(p.says, k.n), remote: k.remote, counters: k.spec.notifications}
	s.stripes = k.stripesOf(s.control)
	s.target = rmaserver.New(lent{s}, k.watch, func(origin int) rmaserver.Locker {
		return robustlock.New(robustlock.Config{Memory: window.ServedLock{LockOf: window.LockOf{Control: s.control, Me: origin}, Name: k.numbers.Name(origin)}, Members: served{k.numbers, k.watch}, Me: origin})
	})
	k.watch.Serve(s)
}

// served are the possible holders of a lock, as the server knows them: from the process, whose lock
// the caller holds.
type served struct {
	*members
	watch *engine.Watch
}

func (m served) Dead(o int) bool { return m.watch.IsDead(o) }

// Serve implements engine.Server.
func (s *server) Serve(from int, frame []byte) (waits bool, err error) {
	if err := s.watch.Enter(); err != nil {
		return false, nil // this process is fenced
	}
	answers, err := s.target.Step(from, frame)
	s.watch.Leave()
	s.answer(answers)
	s.watch.Wake(s.control.Bell())
	return s.target.Waits(), err
}

// Look implements engine.Server.
func (s *server) Look() (waits bool) {
	if s.watch.Enter() != nil {
		return false
	}
	answers := s.target.Look()
	s.watch.Leave()
	s.answer(answers)
	return s.target.Waits()
}

// Died implements engine.Server.
func (s *server) Died(rank int) (waits bool) {
	s.target.Died(rank)
	return s.target.Waits()
}

func (s *server) answer(answers []rmaserver.Answer) {
	for _, a := range answers {
		s.watch.Answer(a.To, a.Reply, a.Data)
	}
}

// lent is the memory of a member, as its server changes it.
type lent struct{ *server }

func (l lent) Bytes() int              { return len(l.data) }
func (l lent) Put(at int, data []byte) { window.Copy(l.data[at:at+len(data)], data) }
func (l lent) Get(at int, dst []byte)  { copy(dst, l.data[at:]) }

func (l lent) Load(at, size int) uint64 { return l.stripes.load(window.At(l.data[at:], size), at) }

func (l lent) Swap(at, size int, v uint64) uint64 {
	return l.stripes.swap(window.At(l.data[at:], size), at, v)
}

func (l lent) CompareAndSwap(at, size int, old, v uint64) uint64 {
	was, _ := l.stripes.compareAndSwap(window.At(l.data[at:], size), at, old, v)
	return was
}

func (l lent) Combines(op, elem uint8, size int) bool {
	return kernel.Scalar(kernel.Op(op), kernel.Elem(elem)) != nil && kernel.Elem(elem).Bytes() == size
}

func (l lent) Combine(op, elem uint8, at, size int, in, were []byte) {
	by := changeBy(kernel.Op(op), kernel.Elem(elem), size)
	changeAll(l.stripes, by, l.data[at:at+len(in)], at, in, were)
}

func (l lent) Count(slot uint64) bool {
	if slot >= uint64(l.counters) {
		return false
	}
	segment.Add64(l.control.Counter(int(slot)), 1)
	return true
}

func (l lent) MarkDead(rank uint64) bool {
	if rank >= uint64(len(l.remote)) {
		return false
	}
	l.watch.MarkDead(int(rank))
	return true
}

func (l lent) Posted(origin int, n uint64) { l.remote[origin].posted.Store(n) }

func (l lent) Completed(origin int, n uint64) { segment.Store64(l.control.Completed(origin), n) }
