package adaptive

// An Event is something that happened at the process that observes: Observe, Heard, Answered,
// Broken, Refused, Left, Forget or Tick. Peer is the place of an observed process in the Observer,
// from 0 up to PeersMax; who of its owner's processes that is, the owner knows.
type Event interface{ observed() }

// Observe begins to observe a peer, in place of what was observed there before. QoS and
// Limits must have passed their Check.
type Observe struct {
	Peer   int
	At     Time
	QoS    QoS
	Limits Limits
}

// Heard is the arrival of a beat. One of another stream than the peer's present one is
// dropped.
type Heard struct {
	Peer int
	At   Time
	Beat Beat
}

// Answered says that a peer was heard otherwise than by a beat: an Echo came (RTT is At minus
// its Clock), or it has answered over a connection. That its machine has accepted one says
// nothing: that of a stopped process does. An RTT of 0 is unknown.
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

// Refused is evidence from the peer's machine: nobody listens where the peer did. Who has not
// Left is dead: a killed process is known so within milliseconds.
type Refused struct {
	Peer int
	At   Time
}

// Left says that a peer has said good-bye: it is not observed any more, and not dead.
type Left struct{ Peer int }

// Forget ends an observation.
type Forget struct{ Peer int }

// Tick says what time it is. All that has arrived before is to be given to the machine
// first: what lies unread in a socket is not silence.
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

// Suspect says that a peer is silent, or its connection broken. A probe goes with it; the
// owner also dials anew, and brings what comes of it as Answered or Refused.
type Suspect struct {
	Peer   int
	Silent Duration // since the last beat was to be expected; 0 for a broken connection
}

// Trust ends a suspicion: it was a mistake.
type Trust struct{ Peer int }

// Declare announces a death. It comes once; the peer is not observed any more.
type Declare struct {
	Peer     int
	Evidence Evidence
}

// Anomaly is something that a person should know, said once.
type Anomaly struct {
	Peer int
	Text string
}

func (Send) observing()    {}
func (Suspect) observing() {}
func (Trust) observing()   {}
func (Declare) observing() {}
func (Anomaly) observing() {}

// Evidence is what a declaration rests on.
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
