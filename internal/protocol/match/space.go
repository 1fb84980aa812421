package match

import (
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/sparse"
)

// A State is the place of a context in its life.
type State uint8

// The states of a context, in the order they are passed through; Pending,
// Live and Revoked may be skipped.
const (
	Absent  State = iota // not known: no message may be sent to it
	Pending              // its index was given out, but its communicator does not exist yet: messages are held
	Live                 // messages and receives meet
	Revoked              // ended by Revoke: messages are dropped, nothing can be posted
	Freed                // forgotten for good: an index is never used again
)

// String returns the state's name.
func (s State) String() string {
	switch s {
	case Absent:
		return "absent"
	case Pending:
		return "pending"
	case Live:
		return "live"
	case Revoked:
		return "revoked"
	case Freed:
		return "freed"
	}
	return "unknown"
}

// A space holds the queues of one context.
type space struct {
	state State
	all   bool // every receive needs every member
	// sources is indexed by rank and non-empty iff Live. A Pending context has no members yet, so
	// its messages wait in arrivals alone: a source number that a broken peer made up costs no
	// memory.
	sources  sparse.Table[source]
	wild     recvQueue    // receives from Any
	arrivals messageQueue // every message, along byArrival

	posted, unexpected int // lengths, for diagnosis
}

// A source holds what one member of a context sent or is expected to send.
type source struct {
	posted   recvQueue    // receives that name this source
	messages messageQueue // its messages, along bySource
}

// queue returns the posted queue of receives from src, a rank or Any.
func (s *space) queue(src int) *recvQueue {
	if src == Any {
		return &s.wild
	}
	return &s.sources.At(src).posted
}

// add puts r at the end of its posted queue; more than long entries make a queue long.
func (s *space) add(r *Recv, long int) {
	s.queue(r.Src).push(r, long)
	r.queued = true
	s.posted++
}

// take takes r out of its posted queue q.
func (s *space) take(q *recvQueue, r *Recv) {
	q.unlink(r)
	r.queued = false
	s.posted--
}

// earliest returns the receive posted first among those that take a message of member src with this
// tag, and its queue; nil if there is none.
//
// Order (MPI 3.5): post Recv(Any, t), post Recv(0, t), arrival of (0, t) must take the first
// although the second names the source. Hence post sequences are compared, and neither queue has
// priority.
func (s *space) earliest(src, tag int) (*recvQueue, *Recv) {
	named := &s.sources.At(src).posted
	r := named.first(tag)
	if w := s.wild.first(tag); w != nil && (r == nil || w.seq < r.seq) {
		return &s.wild, w
	}
	return named, r
}

// wanted reports whether a posted receive takes msg.
func (s *space) wanted(msg *Message) bool {
	if s.state != Live {
		return false
	}
	_, r := s.earliest(msg.Src, msg.Tag)
	return r != nil
}

// find returns the earliest message that a receive of src and tag takes.
func (s *space) find(src, tag int) *Message {
	must.That(s.state == Live, "receive on a context that is not live")
	if src == Any {
		return s.arrivals.first(byArrival, tag)
	}
	must.That(uint(src) < uint(s.sources.Len()), "receive from a rank that the context does not have")
	return s.sources.At(src).messages.first(bySource, tag)
}

// keeps reports whether a message of src may wait here.
func (s *space) keeps(src int) bool {
	return s.state == Pending || uint(src) < uint(s.sources.Len())
}

// insert puts msg at the end of its queues; more than long entries make a queue long.
func (s *space) insert(msg *Message, long int) {
	s.arrivals.push(byArrival, msg, long)
	if s.state == Live {
		s.sources.At(msg.Src).messages.push(bySource, msg, long)
	}
	s.unexpected++
}

// erase takes msg out of its queues.
func (s *space) erase(msg *Message) {
	s.arrivals.unlink(byArrival, msg)
	if s.state == Live {
		s.sources.At(msg.Src).messages.unlink(bySource, msg)
	}
	s.unexpected--
}
