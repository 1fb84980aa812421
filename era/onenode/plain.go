package onenode

import "github.com/goulfm/goulfm/internal/base/must"

// PlainState is the state of an agreement that was entered plainly.
type PlainState uint8

// The states.
const (
	// Waiting: not all lines are there.
	Waiting PlainState = iota
	// Decided: all lines are there, all are plain, and all name the same call. The
	// agreement is decided here.
	Decided
	// Mixed: the plain path does not apply. The caller continues with Adopt and Step.
	Mixed
)

// plain is the agreement that was entered plainly, if one is open.
type plain struct {
	open   bool
	mixed  bool // a member was closed meanwhile
	slot   int
	cursor int // lines of members below are there and plain
	call   uint64
	flag   uint64 // AND over these and this member's own
}

// Plain reports whether the next agreement can be entered plainly: no death is known here, so
// nothing is acknowledged either, nobody has left, and none is open.
func (s *Series) Plain() bool { return s.Open() == 0 && s.closed.IsEmpty() }

// EnterPlain contributes to agreement Next() and returns its number. The effect is that of a
// Propose with only the claim's Call and the Flag in its Value, without the cost of a Propose.
// Plain must be true. Until PollPlain decides or Adopt is called, Step leaves the agreement alone,
// and nothing may be proposed.
func (s *Series) EnterPlain(call, flag uint64) uint64 {
	must.That(s.Plain(), "a plain agreement beside others, or beside the dead")
	s.entered++
	s.plain = plain{open: true, slot: s.slot(s.entered), call: call, flag: flag}
	s.memory.Publish(s.plain.slot, s.entered, Line{Call: call, Flag: flag}, nil)
	return s.entered
}

// PollPlain checks whether the agreement that was entered plainly is decided: then flag is the AND
// over all members. A line is not read again once seen, nor is this member's own, which may be in
// another processor's cache by now.
func (s *Series) PollPlain() (flag uint64, state PlainState) {
	p := &s.plain
	for ; p.cursor < s.n; p.cursor++ {
		if p.cursor == s.me {
			continue
		}
		l, there := s.memory.Read(p.cursor, p.slot, s.entered)
		switch {
		case !there && !p.mixed:
			return 0, Waiting
		case !there, l.LongBytes > 0, l.Call != p.call:
			return 0, Mixed
		}
		p.flag &= l.Flag
	}
	s.decided, p.open = s.entered, false
	return p.flag, Decided
}

// ConcludePlain ends the agreement that was entered plainly as PollPlain does with Decided, for an
// owner that has the result from a member for which PollPlain returned Decided.
func (s *Series) ConcludePlain() {
	must.That(s.plain.open, "no plain agreement to conclude")
	s.decided, s.plain.open = s.entered, false
}

// Adopt returns the number of the agreement that was entered plainly, and hands the agreement over
// to Step: a Look or a later event decides it.
func (s *Series) Adopt() uint64 {
	must.That(s.plain.open, "no plain agreement to adopt")
	s.plain.open = false
	return s.entered
}

// String returns "waiting", "decided" or "mixed".
func (s PlainState) String() string { return [...]string{"waiting", "decided", "mixed"}[s] }
