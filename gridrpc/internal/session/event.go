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

// newer reports whether m was made later than o, by a later attempt or by the same one.
func (m Manifest) newer(o Manifest) bool {
	return m.Attempt > o.Attempt || m.Attempt == o.Attempt && m.Number > o.Number
}

// An Event is something that happened at the client: Begin, Found, Candidates,
// Unreachable, Accepted, Refused, Progressed, Checkpointed, Result, Failed, Broken, Declared,
// Cancelled, Left or Tick.
type Event interface{ happened() }

// Begin begins the call.
type Begin struct{ At mono.Time }

// Found begins in place of Begin if a server keeps a call of another client (S9). Attempts count
// from 1.
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
	Unknown bool          // no server has this service,
	Quiet   mono.Duration // and the tree has not changed for so long
}

// Unreachable answers Ask: no master answered.
type Unreachable struct{ At mono.Time }

// Accepted reports that a server has the attempt, for the first time or after an attachment.
type Accepted struct {
	At      mono.Time
	Attempt uint32
}

// Refused reports that a server does not run the attempt.
type Refused struct {
	At      mono.Time
	Attempt uint32
}

// Progressed reports progress of the body.
type Progressed struct {
	At      mono.Time
	Attempt uint32
}

// Checkpointed reports that a manifest is in the store.
type Checkpointed struct {
	At       mono.Time
	Manifest Manifest
}

// Result reports that the whole result of an attempt has arrived.
type Result struct {
	At      mono.Time
	Attempt uint32
}

// Failed reports that the body of an attempt has returned an error.
type Failed struct {
	At      mono.Time
	Attempt uint32
}

// Broken reports that the stream of an attempt broke, or could not be made again.
type Broken struct {
	At      mono.Time
	Attempt uint32
}

// Declared reports that an incarnation of a server was declared dead.
type Declared struct {
	At     mono.Time
	Server Server
}

// Cancelled reports that the caller has given up.
type Cancelled struct{ At mono.Time }

// Left reports that the caller ends and leaves the call to its server, which keeps it (S9).
type Left struct{ At mono.Time }

// Tick gives the present time.
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

// An Action must be executed by the caller: Ask, Submit, Attach, Abandon or End.
type Action interface{ action() }

// Ask requests servers from the masters, preferably near the bytes of a manifest if there is one.
// Fresh requests new reports of all servers, because earlier reports have led to refusals.
type Ask struct {
	Exclude  []Server
	Fresh    bool
	Manifest Manifest
}

// Submit sends the call to a server, which continues from a manifest if there is one.
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

// Abandon cancels an attempt. Over is true if the call has ended, so that its checkpoints are not
// needed any more.
type Abandon struct {
	Attempt uint32
	Over    bool
}

// End is the outcome, once.
type End struct {
	Outcome Outcome
	Attempt uint32 // the attempt with the result or error; otherwise the latest one
}

func (Ask) action()     {}
func (Submit) action()  {}
func (Attach) action()  {}
func (Abandon) action() {}
func (End) action()     {}

// Outcome is the end of a call.
type Outcome uint8

// The outcomes.
const (
	Succeeded  Outcome = iota + 1
	BodyFailed         // the body returned an error (S5)
	NoService          // no server has the service (S6)
	NoMaster           // no master could be asked
	ServerLost         // lost, and it may have run (S2)
	Poisoned           // too many servers were lost under it (S4)
	TriesOver          // too many attempts
	GivenUp            // cancelled by the caller (S7)
	LeftBehind         // the caller has ended, the call goes on (S9)
	Gone               // the server does not have the call any more (S9)
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
