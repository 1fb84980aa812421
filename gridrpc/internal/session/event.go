package session

import "github.com/goulfm/goulfm/internal/base/mono"

// Server names one incarnation of a server.
type Server struct {
	Name        string
	Incarnation uint64
}

// Manifest names a checkpoint of a call. The zero value is none: attempts and numbers count
// from 1.
type Manifest struct{ Attempt, Number uint32 }

// newer says whether m was made later than o, by a later attempt or by the same one.
func (m Manifest) newer(o Manifest) bool {
	return m.Attempt > o.Attempt || m.Attempt == o.Attempt && m.Number > o.Number
}

// An Event is something that happened at the client: Begin, Found, Candidates,
// Unreachable, Accepted, Refused, Progressed, Checkpointed, Result, Failed, Broken, Declared,
// Cancelled, Left or Tick.
type Event interface{ happened() }

// Begin begins the call.
type Begin struct{ At mono.Time }

// Found begins, in the place of Begin, where a server keeps a call of another client (S9).
// Attempts count from 1.
type Found struct {
	At      mono.Time
	Server  Server
	Attempt uint32
}

// Candidates answers Ask: servers, best first.
type Candidates struct {
	At      mono.Time
	Servers []Server
	Held    bool          // no master was asked: a call of this client has just left a place there (S10)
	Unknown bool          // nobody has this service,
	Quiet   mono.Duration // and the tree has not changed for so long
}

// Unreachable answers Ask: no master did.
type Unreachable struct{ At mono.Time }

// Accepted says that a server has the attempt, for the first time or attached to again.
type Accepted struct {
	At      mono.Time
	Attempt uint32
}

// Refused says that a server will not run the attempt.
type Refused struct {
	At      mono.Time
	Attempt uint32
}

// Progressed is a sign that the body works.
type Progressed struct {
	At      mono.Time
	Attempt uint32
}

// Checkpointed says that a manifest is in the store.
type Checkpointed struct {
	At       mono.Time
	Manifest Manifest
}

// Result says that the whole result of an attempt is here.
type Result struct {
	At      mono.Time
	Attempt uint32
}

// Failed says that the body of an attempt has returned an error.
type Failed struct {
	At      mono.Time
	Attempt uint32
}

// Broken says that the stream of an attempt broke, or could not be made again.
type Broken struct {
	At      mono.Time
	Attempt uint32
}

// Declared says that an incarnation of a server is dead.
type Declared struct {
	At     mono.Time
	Server Server
}

// Cancelled says that the caller has given up.
type Cancelled struct{ At mono.Time }

// Left says that the caller ends and leaves the call to its server, which keeps it (S9).
type Left struct{ At mono.Time }

// Tick says what time it is.
type Tick struct{ Now mono.Time }

func (Begin) happened()        {}
func (Found) happened()        {}
func (Candidates) happened()   {}
func (Unreachable) happened()  {}
func (Accepted) happened()     {}
func (Refused) happened()      {}
func (Progressed) happened()   {}
func (Checkpointed) happened() {}
func (Result) happened()       {}
func (Failed) happened()       {}
func (Broken) happened()       {}
func (Declared) happened()     {}
func (Cancelled) happened()    {}
func (Left) happened()         {}
func (Tick) happened()         {}

// An Action is something that the call's owner must do: Ask, Submit, Attach, Abandon or End.
type Action interface{ action() }

// Ask asks the masters for servers, to go on from a manifest if there is one: best near its bytes.
// Fresh is a walk to every server, because what agents remember has led to refusals.
type Ask struct {
	Exclude  []Server
	Fresh    bool
	Manifest Manifest
}

// Submit sends the call to a server, to go on from a manifest if there is one.
type Submit struct {
	Attempt  uint32
	Server   Server
	Manifest Manifest
}

// Attach dials the server of a broken stream again and sends the same attempt. The server had
// Accepted it, or may have missed it with the stream.
type Attach struct {
	Attempt  uint32
	Server   Server
	Accepted bool
}

// Abandon cancels an attempt. Over says that the call has ended: else its checkpoints are needed.
type Abandon struct {
	Attempt uint32
	Over    bool
}

// End is the outcome, once.
type End struct {
	Outcome Outcome
	Attempt uint32 // whose result or error it is; else the latest
}

func (Ask) action()     {}
func (Submit) action()  {}
func (Attach) action()  {}
func (Abandon) action() {}
func (End) action()     {}

// Outcome is how a call ends.
type Outcome uint8

// The outcomes.
const (
	Succeeded  Outcome = iota + 1
	BodyFailed         // the body returned an error (S5)
	NoService          // nobody knows the service (S6)
	NoMaster           // no master could be asked
	ServerLost         // lost, and it may have run (S2)
	Poisoned           // too many servers were lost under it (S4)
	TriesOver          // too many attempts
	GivenUp            // cancelled by the caller (S7)
	LeftBehind         // the caller has ended, the call goes on (S9)
	Gone               // its server does not have it any more (S9)
)

// String returns the outcome in words.
func (o Outcome) String() string {
	switch o {
	case Succeeded:
		return "succeeded"
	case BodyFailed:
		return "body failed"
	case NoService:
		return "no service"
	case NoMaster:
		return "no master"
	case ServerLost:
		return "server lost"
	case Poisoned:
		return "poisoned"
	case TriesOver:
		return "tries over"
	case GivenUp:
		return "given up"
	case LeftBehind:
		return "left behind"
	case Gone:
		return "gone"
	}
	return "no outcome"
}
