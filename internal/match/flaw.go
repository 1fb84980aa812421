package match

import "github.com/goulfm/goulfm/internal/must"

// Flaw is one rule left out on purpose, so that a check can show that it is
// needed. Production uses NoFlaw, and is built without the tag "sabotage": then a
// Flaw does nothing.
type Flaw uint8

// The flaws.
const (
	// NoFlaw is the full set of rules.
	NoFlaw Flaw = iota
	// FlawOvertake: a receive gets the latest message that it matches (MPI 3.5:
	// messages of one source do not overtake each other).
	FlawOvertake
	// FlawNamedFirst: a receive that names the source goes before one from any
	// source that was posted earlier (MPI 3.5).
	FlawNamedFirst
	// FlawDropHeld: what came for a Pending context is dropped when it opens.
	FlawDropHeld
	// FlawR8: a death takes the complete messages of the dead along.
	FlawR8
	// FlawR46: a death leaves the receives posted that name the dead.
	FlawR46
	// FlawRevokePending: a revocation does nothing to a Pending context (B4).
	FlawRevokePending
	// FlawForgetLost: a death takes the announced messages of the dead along, so that
	// later ones overtake them (MPI 3.5, R46).
	FlawForgetLost
)

// NewFlawed returns a Matcher without one of its rules.
func NewFlawed(f Flaw) *Matcher {
	m := New()
	m.flaw = f
	return m
}

// is says whether this rule is left out: never in production.
func (f Flaw) is(this Flaw) bool { return must.Sabotage && f == this }

// latest is the last message of the same source that a receive of tag takes.
func latest(msg *Message, tag int) *Message {
	for next := msg; next != nil; next = next.links[bySource].next {
		if matches(tag, next.Tag) {
			msg = next
		}
	}
	return msg
}

// dropComplete drops the complete messages of src.
func (m *Matcher) dropComplete(s *space, src int, dropped func(*Message)) {
	for msg := s.arrivals.head; msg != nil; {
		next := msg.links[byArrival].next
		if msg.Src == src {
			m.drop(s, msg, dropped)
		}
		msg = next
	}
}
