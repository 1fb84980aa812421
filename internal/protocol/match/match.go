package match

import "github.com/goulfm/goulfm/internal/base/must"

// Any is the wildcard for the source or the tag of a receive or a probe.
const Any = -1

// A Recv is a receive. Its owner embeds it in a request, fills the exported fields and passes it to
// Post. While the Recv is queued, its fields must not change, and it must not be copied or moved.
type Recv struct {
	Ctx  uint32 // the receiver's context
	Src  int    // a rank of the context's communicator, or Any
	Tag  int    // >= 0, or Any, or from Loosely
	Slot uint32 // the owner's name for this receive, opaque here

	prev, next *Recv
	seq        uint64 // place in the global post order; set by Post
	queued     bool   // in a posted queue: posted, and neither matched, ended nor withdrawn
}

// Queued reports whether r waits in a posted queue.
func (r *Recv) Queued() bool { return r.queued }

// A Message is an unexpected message: its header and, if the message was pushed, its payload. A
// Message comes from Matcher.Message. The caller that gets it from Post or Take returns it with
// Recycle. Its fields must not change while it is kept.
type Message struct {
	Ctx       uint32 // the receiver's context
	Src       int    // rank of the sender in the context's communicator
	Tag       int    // >= 0
	Size      int    // bytes of the whole message
	Elem      uint8  // element code, opaque here
	Data      []byte // payload if it was pushed, from Matcher.Buffer; nil if announced
	Handle    uint64 // the sender's name for an announced message, opaque here
	Announced bool   // the payload is still at the sender (rendezvous)
	Addr      uint64 // of an announced message: where its payload lies, opaque here
	Transfer  int    // of an announced message with Addr, opaque here
	Sync      bool   // the sender waits for the news of the match

	forgotten bool // no receive from Any gets it: see Forget

	number uint64 // no two kept messages of a Matcher ever have the same

	links [2]link // by source and by arrival; the free list uses byArrival
	where place
}

// place is the owner of a Message.
type place uint8

const (
	outside place = iota // with the caller
	queued               // in the unexpected queues
	pooled               // in the free list
)

// A Matcher is one process's posted and unexpected queues over all contexts.
// It is not safe for concurrent use.
type Matcher struct {
	table table
	pool  pool

	seq      uint64 // of the last Post or Keep
	long     int    // longQueue; tests choose less
	messages int    // in the unexpected queues
	bytes    int    // of their payload
}

// New returns a Matcher whose contexts are all Absent.
func New() *Matcher {
	return &Matcher{table: newTable(), long: longQueue}
}

// Arrive takes the earliest posted receive that matches a message of src with the given tag out of
// its queue and returns it. Nil means that none matches: then the caller Keeps a Message if the
// context Accepts it. A source that the context does not have matches nothing.
func (m *Matcher) Arrive(ctx uint32, src, tag int) *Recv {
	s := m.table.space(ctx)
	if uint(src) >= uint(s.sources.Len()) {
		return nil
	}
	q, r := s.earliest(src, tag)
	if r != nil {
		s.take(q, r)
	}
	return r
}

// ArriveNamed is the short path of Arrive: it takes the first receive that names src, if that
// receive requests exactly this tag and no receive from Any is posted. Nil means only that the
// caller must use Arrive.
func (m *Matcher) ArriveNamed(ctx uint32, src, tag int) *Recv {
	s := m.table.space(ctx)
	if uint(src) >= uint(s.sources.Len()) || s.wild.head != nil {
		return nil
	}
	q := &s.sources.At(src).posted
	r := q.head
	if r == nil || r.Tag != tag {
		return nil
	}
	s.take(q, r)
	return r
}

// Post gives r the earliest unexpected message that matches it, taken out of
// the queues, or queues r and returns nil. r's context must be Live, its source
// Any or a rank of it, and r not queued already.
//
// Order (MPI 3.5): earliest is by arrival, over all sources for Any.
func (m *Matcher) Post(r *Recv) *Message {
	s := m.table.space(r.Ctx)
	must.That(!r.queued, "receive posted twice")
	if msg := s.find(r.Src, r.Tag); msg != nil {
		m.remove(s, msg)
		return msg
	}
	m.seq++
	r.seq = m.seq
	s.add(r, m.long)
	return nil
}

// Withdraw takes r out of its queue (MPI_Cancel) and reports whether r was there. False means that
// r had matched or ended before, or was never posted.
func (m *Matcher) Withdraw(r *Recv) bool {
	if !r.queued {
		return false
	}
	s := m.table.space(r.Ctx)
	s.take(s.queue(r.Src), r)
	return true
}

// Idle reports that no posted receive could take a message of src on ctx, and that no message of
// src waits there. A receive of src may then take the next message that arrives, with any tag. Idle
// is false where the context is not Live.
func (m *Matcher) Idle(ctx uint32, src int) bool {
	s := m.table.space(ctx)
	if uint(src) >= uint(s.sources.Len()) || s.wild.head != nil {
		return false
	}
	from := s.sources.At(src)
	return from.posted.head == nil && from.messages.head == nil
}

// Probe returns the message that Post would give a receive of src and tag, without taking it, or
// nil. The context must be Live. The Matcher still owns the message, which is valid until the next
// call that may take it.
func (m *Matcher) Probe(ctx uint32, src, tag int) *Message {
	return m.table.space(ctx).find(src, tag)
}

// Take takes msg, as returned by Probe, out of the queues (MPI_Mprobe). No
// receive can match it any more; the caller owns it.
func (m *Matcher) Take(msg *Message) {
	m.remove(m.table.space(msg.Ctx), msg)
}

// Keep puts msg, from Message, at the end of the unexpected queues of its context. Arrive must have
// found no receive for it. False means that the context does not accept msg or has no such source;
// Keep has recycled msg then.
func (m *Matcher) Keep(msg *Message) bool {
	must.That(msg.where == outside, "message kept twice")
	s := m.table.space(msg.Ctx)
	if !s.keeps(msg.Src) {
		m.Recycle(msg)
		return false
	}
	must.That(!must.Costly || !s.wanted(msg), "message kept although a receive wants it")
	msg.where = queued
	m.messages++
	m.bytes += len(msg.Data)
	m.seq++
	msg.number = m.seq
	s.insert(msg, m.long)
	return true
}

// remove takes msg out of the unexpected queues of s, and the caller becomes its owner.
func (m *Matcher) remove(s *space, msg *Message) {
	must.That(msg.where == queued, "message taken twice")
	msg.where = outside
	m.messages--
	m.bytes -= len(msg.Data)
	s.erase(msg)
}
