package adaptive

// An Event is something that happened at the process that observes: Observe, Heard, Answered,
// Broken, Refused, Left, Forget or Tick. Peer is the place of an observed process in the Observer,
// from 0 up to PeersMax; the owner knows which of its processes that is.
type Event interface{ observed() }

// Observe begins to observe a peer, in place of the former observation at that place. QoS and
// Limits must have passed their Check.
type Observe struct {
	Peer   int
	At     Time
	QoS    QoS
	Limits Limits
}

// Heard is the arrival of a beat. A beat of another stream than the peer's present stream is
// dropped.
type Heard struct {
	Peer int
	At   Time
	Beat Beat
}

// Answered reports a sign of life of a peer other than a beat: an Echo (RTT is At minus its Clock),
// or an answer over a connection. A connection that its machine accepted is no sign of life: the
// machine of a stopped process accepts connections, too. An RTT of 0 is unknown.
type Answered struct {
	Peer int
	At   Time
	RTT  Duration
}

// Broken is evidence from a connection that failed: a suspicion only (B19).
type Broken struct {
	Peer int
	At   Time
}

// Refused is evidence from the peer's machine: nobody listens where the peer did. A peer that has
// not Left is dead: a killed process is known within milliseconds.
type Refused struct {
	Peer int
	At   Time
}

// Left reports that a peer has taken its leave: the peer is no longer observed, and not dead.
type Left struct{ Peer int }

// Forget ends an observation.
type Forget struct{ Peer int }

// Tick gives the current time. The caller must first deliver all messages that have arrived before:
// unread messages in a socket are not silence.
type Tick struct{ Now Time }

func (Observe) observed()  {}
func (Heard) observed()    {}
func (Answered) observed() {}
func (Broken) observed()   {}
func (Refused) observed()  {}
func (Left) observed()     {}
func (Forget) observed()   {}
func (Tick) observed()     {}

// An Action is something that the observer's owner must do: Send, Suspect, Trust, Declare
// or Anomaly.
type Action interface{ observing() }

// Send hands a message to a peer: as a datagram, or ByLink, over the connection.
type Send struct {
	Peer    int
	Message Message
	ByLink  bool
}

// Suspect reports that a peer is silent, or its connection broken. A probe is sent, too; the owner
// also dials anew, and reports the result as Answered or Refused.
type Suspect struct {
	Peer   int
	Silent Duration // since the last beat was to be expected; 0 for a broken connection
}

// Trust ends a suspicion that was a mistake.
type Trust struct{ Peer int }

// Declare announces a death, once; the peer is not observed any more.
type Declare struct {
	Peer     int
	Evidence Evidence
}

// Anomaly is an event that a person should know, reported once.
type Anomaly struct {
	Peer int
	Text string
}

func (Send) observing()    {}
func (Suspect) observing() {}
func (Trust) observing()   {}
func (Declare) observing() {}
func (Anomaly) observing() {}

// Evidence is the reason of a declaration.
type Evidence uint8

// The kinds of Evidence.
const (
	BySilence Evidence = iota + 1 // no beat in time, and no answer within Limits.Confirm
	ByRefusal                     // its machine refused a connection
)

// String returns "silence" or "refusal".
func (e Evidence) String() string {
	switch e {
	case BySilence:
		return "silence"
	case ByRefusal:
		return "refusal"
	}
	return "no evidence"
}
