package membership

import (
	"github.com/goulfm/goulfm/internal/base/mono"
)

// An Event is something that happened at this member: Receive, Broken, Refused, Connected,
// Unreachable, Reachable, Condemned, Came, Publish or Tick.
type Event interface{ event() }

// Receive is the arrival of a message that another member's Send carried. Msg is read
// during Step only. Messages may be lost, and may come in any order.
type Receive struct {
	From int
	Msg  []byte
}

// Broken reports that the connection to a member failed: a suspicion, no more.
type Broken struct {
	Member int
}

// Refused reports that the connection to a member ended and a new one was refused: its daemon does
// not run any more, as far as this member can see.
type Refused struct {
	Member int
}

// Connected reports that there is a connection to a member again.
type Connected struct {
	Member int
}

// Unreachable reports that a process of this node could not reach one of that node for some time.
// The complaint holds until Reachable.
type Unreachable struct {
	Member int
}

// Reachable withdraws an Unreachable.
type Reachable struct {
	Member int
}

// Condemned reports that this member, the coordinator, cannot give orders to another one any more:
// from now on that member receives no grants, and it is declared once its lease is over.
type Condemned struct {
	Member int
}

// Came reports that a member of Config.Absent is there. The coordinator receives the event first,
// before the member begins; the others after that, in any order. A second Came has no effect.
type Came struct {
	Member int
}

// Publish adds entries to the list of this node: its processes' ends, which are exact, and
// revocations made here. The caller has put them on its own list before (B23).
type Publish struct {
	Entries []Entry
}

// Tick sets the time. Only a Tick moves time. After a pause a Tick must come before any other
// event: the lease is checked first (F8).
type Tick struct {
	Now mono.Time // a Now before an earlier one counts as the earlier one
}

func (Receive) event()     {}
func (Broken) event()      {}
func (Refused) event()     {}
func (Connected) event()   {}
func (Unreachable) event() {}
func (Reachable) event()   {}
func (Condemned) event()   {}
func (Came) event()        {}
func (Publish) event()     {}
func (Tick) event()        {}

// An Action is something that the host must do, in the order given.
type Action interface{ action() }

// Send hands Msg to member To. The bytes belong to the host. Datagram is true if the message may be
// lost without harm and is better lost than late.
type Send struct {
	To       int
	Msg      []byte
	Datagram bool
}

// Lease sets the time until which this node may run, by its own clock. The host writes that time
// where the ranks read it. Until only grows.
type Lease struct {
	Until mono.Time
}

// Freeze stops the ranks of this node at once: its lease is over (F11).
type Freeze struct{}

// Thaw continues those that Freeze has stopped.
type Thaw struct{}

// Suspect reports a suspicion, for the event log. A suspicion is no death.
type Suspect struct {
	Member int
	Silent mono.Duration // how long no heartbeat came; 0 without an observer
}

// Declaration reports that a member was declared dead. A Declaration is final, and comes once per
// member: links to it are closed, its ranks are lost.
type Declaration struct {
	Member int
}

// Learned announces entries of another node's list, each once, in the order of that list.
type Learned struct {
	Origin  int
	Entries []Entry
}

// Coordinator reports that a member is the coordinator now, as far as this one knows. For the event
// log.
type Coordinator struct {
	Member int
	Epoch  uint32
}

// Fenced reports that this member was declared dead and must end its ranks and itself. No action
// follows any later event.
type Fenced struct {
	By int // the reporter
}

// End reports that there is no coordinator for this node any more, and it must end its ranks and
// itself. No action follows any later event.
type End struct {
	Frozen mono.Duration // how long it has been frozen; 0 if its launcher is known to have ended
}

// Anomaly reports a message that is not one of this package's. The state is unchanged.
type Anomaly struct {
	From int
	Text string
}

func (Send) action()        {}
func (Lease) action()       {}
func (Freeze) action()      {}
func (Thaw) action()        {}
func (Suspect) action()     {}
func (Declaration) action() {}
func (Learned) action()     {}
func (Coordinator) action() {}
func (Fenced) action()      {}
func (End) action()         {}
func (Anomaly) action()     {}
