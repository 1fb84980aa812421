package session

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
)

// A State is the phase of a lane. The package comment has the diagram.
type State uint8

// The states.
const (
	Idle State = iota
	Dialing
	Shaking
	Open
	Broken
	Ended // closed
)

// String returns the state in one word.
func (s State) String() string {
	switch s {
	case Idle:
		return "idle"
	case Dialing:
		return "dialing"
	case Shaking:
		return "shaking"
	case Open:
		return "open"
	case Broken:
		return "broken"
	case Ended:
		return "closed"
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// A Session is one end of one lane.
type Session struct {
	cfg   Config
	state State
	now   mono.Time // the last Tick's

	dials uint64 // made here so far; the last dial's Conn and attempt number follow from the count
	mine  Conn   // the dial under way: set in Dialing and Shaking only
	conn  Conn   // the open connection: set in Open, and in Ended while the peer still waits for its bye-ack
	heard uint16 // the peer's last attempt that this end accepted or the peer abandoned
	met   bool   // the field heard is valid

	since     mono.Time     // when the lane lost its connection, or was first needed
	giveUp    mono.Time     // when the attempt under way ends
	redial    mono.Time     // when Broken dials
	backoff   mono.Duration // the length of the next wait in Broken
	connected bool          // the last attempt, or the one before it if none has ended, got a connection
	ask       mono.Time     // when the next Ask is due
	asks      mono.Duration // the wait from that Ask to the one after
	complains bool          // Unreachable was reported and not withdrawn
	strange   bool          // the peer's answer "stranger" was reported, since the lane was last open

	out outgoing
	in  incoming
	end goodbye

	actions []Action
}

// New returns one end of a lane that is not needed yet. The configuration must pass Check.
func New(cfg Config) *Session {
	err := cfg.Check()
	must.That(err == nil, "%v", err)
	return &Session{cfg: cfg.WithDefaults(), backoff: RedialFirst}
}

// Step applies one event and returns, in order, the actions of the host. Step never blocks and
// reads no clock. The slice is valid until the next Step.
func (s *Session) Step(ev Event) []Action {
	s.actions = s.actions[:0]
	s.apply(ev)
	s.settle()
	return s.actions
}

func (s *Session) apply(ev Event) {
	switch ev := ev.(type) {
	case Want:
		s.want()
	case Asked:
		s.asked()
	case Append:
		s.append(ev)
	case Dialed:
		s.dialed(ev.Conn)
	case DialFailed:
		s.attemptFailed(ev.Conn)
	case Incoming:
		s.incoming(ev.Conn, ev.Hello)
	case Answered:
		s.answered(ev.Conn, ev.Hello)
	case Broke:
		s.broke(ev.Conn)
	case Arrived:
		s.arrived(ev.Conn, ev.Bytes)
	case Taken:
		s.take(ev)
	case Sweep:
		s.in.due = true
	case Acked:
		s.acked(ev.Conn, ev.Taken)
	case Bye:
		s.bye(ev.Conn)
	case ByeAck:
		s.byeAck(ev.Conn)
	case Close:
		s.close()
	case Gone:
		s.gone(ev.Dead)
	case Tick:
		s.tick(ev.Now)
	}
}

// settle takes the actions that have become possible, after each event.
func (s *Session) settle() {
	if s.state == Open {
		s.acknowledge()
		s.sayGoodbye()
	}
}

// Deadline returns the time at which the session next needs a Tick, and false if it needs none.
func (s *Session) Deadline() (mono.Time, bool) {
	var next mono.Time
	switch s.state {
	case Dialing, Shaking:
		next = s.giveUp
	case Broken:
		next = s.redial
	default:
		return 0, false
	}
	if !s.complains {
		next = min(next, s.since.Add(ComplainAfter))
	} else if !s.connected {
		next = min(next, s.ask)
	}
	return next, true
}

func (s *Session) tick(now mono.Time) {
	s.now = max(s.now, now)
	if s.state != Dialing && s.state != Shaking && s.state != Broken {
		return
	}
	if !s.complains && s.now >= s.since.Add(ComplainAfter) {
		s.complains = true
		s.act(Unreachable{})
		s.ask, s.asks = s.now, ComplainAfter
	}
	s.askToBeDialed()
	if s.state == Broken && s.now >= s.redial {
		s.dial()
	} else if s.state != Broken && s.now >= s.giveUp {
		s.attemptFailed(s.mine)
	}
}

// State returns the state of the lane.
func (s *Session) State() State { return s.state }

// Current returns the open connection, 0 if there is none.
func (s *Session) Current() Conn {
	if s.state != Open {
		return 0
	}
	return s.conn
}

// Describe returns the state in one line, for a person.
func (s *Session) Describe() string {
	text := fmt.Sprintf("%d-%d lane %d: %v", s.cfg.Me.Number, s.cfg.Peer.Number, s.cfg.Lane, s.state)
	if c := s.conn | s.mine; c != 0 {
		text += fmt.Sprintf(" on %d", c)
	}
	text += fmt.Sprintf(", out %d of %d acknowledged, in %d taken of %d", s.out.acked, s.out.queued, s.in.taken, s.in.received)
	if s.complains {
		text += ", complains"
	}
	return text + s.end.describe()
}

func (s *Session) act(a Action) { s.actions = append(s.actions, a) }
