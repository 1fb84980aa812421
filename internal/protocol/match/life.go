package match

import (
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/sparse"
)

// State returns the state of ctx. Any number is allowed.
func (m *Matcher) State(ctx uint32) State { return m.table.space(ctx).state }

// Accepts reports whether a message for ctx may be matched or kept: the context is Pending or Live.
// The caller must drop or answer arrivals for other contexts.
func (m *Matcher) Accepts(ctx uint32) bool {
	s := m.State(ctx)
	return s == Pending || s == Live
}

// Reserve makes an Absent context Pending. The caller reserves an index before it sends that index
// to any peer. Contexts are dense, small numbers that this process chooses.
func (m *Matcher) Reserve(ctx uint32) {
	must.That(m.State(ctx) == Absent, "context reserved twice")
	m.table.put(ctx, &space{state: Pending})
}

// Open makes an Absent or Pending context Live, with ranks 0 to members-1. In a collective context
// (all) every receive needs every member: see Fail. Messages held while Pending keep their order.
// Held messages of ranks that the context does not have, sent by a broken peer, are recycled,
// because no receive could ever take them. A context revoked while it was Pending stays Revoked.
func (m *Matcher) Open(ctx uint32, members int, all bool) {
	must.That(members > 0, "context without members")
	s := m.table.space(ctx)
	if s.state == Revoked {
		return
	}
	must.That(s.state == Absent || s.state == Pending, "context opened twice")
	held := s.arrivals
	s = &space{state: Live, all: all, sources: sparse.New[source](members, nil)}
	m.table.put(ctx, s)
	m.admit(s, held)
}

// admit adds the messages held while Pending to the new Live context.
func (m *Matcher) admit(s *space, held messageQueue) {
	for held.head != nil {
		msg := held.head
		held.unlink(byArrival, msg)
		if s.keeps(msg.Src) {
			s.insert(msg, m.long)
			continue
		}
		msg.where = outside
		m.messages--
		m.bytes -= len(msg.Data)
		m.Recycle(msg)
	}
}

// Purge drops the messages of ctx whose sender keep rejects: messages that were held for a
// communicator before its members were known.
func (m *Matcher) Purge(ctx uint32, keep func(src int) bool, dropped func(*Message)) {
	s := m.table.space(ctx)
	for msg := s.arrivals.head; msg != nil; {
		next := msg.links[byArrival].next
		if !keep(msg.Src) {
			m.drop(s, msg, dropped)
		}
		msg = next
	}
}

// Discard drops the messages of ctx that are unwanted, as Purge does.
func (m *Matcher) Discard(ctx uint32, unwanted func(*Message) bool, dropped func(*Message)) {
	s := m.table.space(ctx)
	for msg := s.arrivals.head; msg != nil; {
		next := msg.links[byArrival].next
		if unwanted(msg) {
			m.drop(s, msg, dropped)
		}
		msg = next
	}
}

// Free makes a context Freed for good (R58), in any state. Every posted receive is passed to ended,
// in the order of Revoke; every message is passed to dropped by arrival, and is recycled after
// that. Either may be nil, and neither may call the Matcher. Freeing an Absent context only marks
// its index as used.
func (m *Matcher) Free(ctx uint32, ended func(*Recv), dropped func(*Message)) {
	s := m.table.space(ctx)
	if s.state == Freed {
		return
	}
	m.endAll(s, ended)
	m.dropAll(s, dropped)
	m.table.forget(ctx)
}

// Revoke ends everything on ctx (R13). Every posted receive is passed to ended: those that name a
// source first, by source, each source's in post order, then those from Any in post order. Every
// message is passed to dropped by arrival (R11: no message has a claim to be received any more) and
// is recycled after that. Either function may be nil, and neither may call the Matcher. Later
// arrivals are not accepted.
//
// A Pending context becomes Revoked too, so that a revocation that overtakes the creation of its
// communicator is not lost. An Absent one stays so: no correct peer knows an index before it was
// Reserved.
func (m *Matcher) Revoke(ctx uint32, ended func(*Recv), dropped func(*Message)) {
	if !m.Accepts(ctx) {
		return
	}
	s := m.table.space(ctx)
	m.endAll(s, ended)
	m.dropAll(s, dropped)
	s.state, s.sources = Revoked, sparse.Table[source]{}
}

// Fail completes the receives that the death of member src of ctx completes.
//
//   - Receives that name src are passed to ended (R46), in post order.
//   - Receives from Any stay queued and are passed to pending (R49), in post order: they can still
//     match a message of a live member. pending may Withdraw the receive that it gets (R48: a
//     blocking call keeps no request).
//   - In a collective context every receive is passed to ended instead (R54), in the order of
//     Revoke. Otherwise a member that waits for a live one would wait for ever if the live one
//     waits for the dead one.
//   - The messages of src stay, both the complete and the announced ones. The complete ones are
//     received as usual (R8). The payload of an announced one died with the sender. The message
//     keeps its place, so that the receive which it matches reports the loss, and does not get a
//     later message of src (MPI 3.5, R46). In a collective context no receive can be posted for
//     them: there the announced ones are passed to dropped, by arrival, and are recycled.
//
// Any function may be nil, and none may call the Matcher except as stated. Fail must come after the
// last message of src was passed to Arrive.
func (m *Matcher) Fail(ctx uint32, src int, ended, pending func(*Recv), dropped func(*Message)) {
	s := m.table.space(ctx)
	if s.all {
		m.dropAnnounced(s, src, dropped)
	}
	if s.state != Live {
		return
	}
	if s.all {
		m.endAll(s, ended)
		return
	}
	must.That(uint(src) < uint(s.sources.Len()), "death of a rank that the context does not have")
	end(s, &s.sources.At(src).posted, ended)
	for r := s.wild.head; r != nil; {
		next := r.next
		if pending != nil {
			pending(r)
		}
		r = next
	}
}

// Part handles the departure of src from a collective context, after src sent all its messages.
// Posted receives that name src are passed to ended, and those from others stay posted. Part must
// come after the last message of src was passed to Arrive.
func (m *Matcher) Part(ctx uint32, src int, ended func(*Recv)) {
	if s := m.table.space(ctx); s.state == Live {
		must.That(uint(src) < uint(s.sources.Len()), "departure of a rank that the context does not have")
		end(s, &s.sources.At(src).posted, ended)
	}
}

// Forget makes receives and probes from Any skip the messages of ctx that which selects: the
// announcements of the dead, once their failures are acknowledged (R22). A receive that names the
// source still matches these messages, in order (R46).
func (m *Matcher) Forget(ctx uint32, which func(*Message) bool) {
	for msg := m.table.space(ctx).arrivals.head; msg != nil; msg = msg.links[byArrival].next {
		msg.forgotten = msg.forgotten || which(msg)
	}
}

// endAll passes every posted receive of s to ended.
func (m *Matcher) endAll(s *space, ended func(*Recv)) {
	s.sources.Each(func(from *source) { end(s, &from.posted, ended) })
	end(s, &s.wild, ended)
}

// end passes every receive of the queue q of s to ended.
func end(s *space, q *recvQueue, ended func(*Recv)) {
	for q.head != nil {
		r := q.head
		s.take(q, r)
		if ended != nil {
			ended(r)
		}
	}
}

// dropAll drops every message of s.
func (m *Matcher) dropAll(s *space, dropped func(*Message)) {
	for s.arrivals.head != nil {
		m.drop(s, s.arrivals.head, dropped)
	}
}

// dropAnnounced drops the announced messages of src. A death is rare.
func (m *Matcher) dropAnnounced(s *space, src int, dropped func(*Message)) {
	for msg := s.arrivals.head; msg != nil; {
		next := msg.links[byArrival].next
		if msg.Src == src && msg.Announced {
			m.drop(s, msg, dropped)
		}
		msg = next
	}
}

// drop takes msg out of the queues of s, passes it to dropped and recycles it.
func (m *Matcher) drop(s *space, msg *Message, dropped func(*Message)) {
	m.remove(s, msg)
	if dropped != nil {
		dropped(msg)
	}
	m.Recycle(msg)
}
