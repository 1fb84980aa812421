package tree

import "github.com/goulfm/goulfm/internal/base/mono"

// ID names one incarnation of an agent.
type ID struct {
	Name        string
	Incarnation uint64
}

// Ref is an agent and its address.
type Ref struct {
	ID
	Tier int
	Addr string
}

// Untiered is the tier of an agent that was never attached.
const Untiered = -1

// An Event is something that happened at an agent: Start, Joined, Declined, JoinAsked,
// Listed, Closed, Declared, Answered, Oracle, Deposed, HomeSeen or Tick.
type Event interface{ happened() }

// Start is the first event.
type Start struct{ At mono.Time }

// Joined accepts the join of that generation.
type Joined struct {
	At         mono.Time
	Parent     Ref
	Generation uint64
	Ancestors  []Ref  // of the parent, nearest first
	Term       uint64 // of the root above
}

// Declined refuses the join of that generation, or reports that the join could not be delivered.
type Declined struct {
	At         mono.Time
	Generation uint64
	Redirect   []Ref
}

// JoinAsked is the request of a child.
type JoinAsked struct {
	Child      Ref
	Generation uint64
	Parent     ID // the intended receiver, checked by Links; incarnation 0 is any
}

// Listed is a list of ancestors from a process that considers itself the parent.
type Listed struct {
	At         mono.Time
	From       ID
	Generation uint64
	Ancestors  []Ref
	Term       uint64
}

// Closed reports that a link has ended, by a Leave or by a break. Up is true for a link to a
// parent.
type Closed struct {
	At         mono.Time
	Peer       ID
	Generation uint64
	Up         bool
}

// Declared reports that this agent's failure detector considers an incarnation dead.
type Declared struct {
	At  mono.Time
	Who ID
}

// Answered answers a Probe. Is is the process at the address.
type Answered struct {
	At    mono.Time
	Asked ID
	Is    ID
}

// Oracle answers AskOracle. Root is nil if the root is not known.
type Oracle struct {
	At   mono.Time
	Root *Ref
}

// Deposed informs a root of another root with a greater term.
type Deposed struct{ Term uint64 }

// HomeSeen answers LookHome: Home is the process at the address of the configured parent.
type HomeSeen struct {
	At   mono.Time
	Home Ref
}

// Tick gives the present time.
type Tick struct{ Now mono.Time }

func (Start) happened()     {}
func (Joined) happened()    {}
func (Declined) happened()  {}
func (JoinAsked) happened() {}
func (Listed) happened()    {}
func (Closed) happened()    {}
func (Declared) happened()  {}
func (Answered) happened()  {}
func (Oracle) happened()    {}
func (Deposed) happened()   {}
func (HomeSeen) happened()  {}
func (Tick) happened()      {}

// An Action must be executed by the caller: Probe, Join, Accept, Refuse, List, Leave, AskOracle,
// LookHome or Observe; of Links also Gained or Lost.
type Action interface{ action() }

// Probe asks whether an ancestor is alive. The result is Answered, Declared, or no event.
type Probe struct{ To Ref }

// Join asks to become a child.
type Join struct {
	To         Ref
	Child      Ref
	Generation uint64
}

// Accept accepts a child.
type Accept struct {
	Child      ID
	Generation uint64
	Parent     Ref
	Ancestors  []Ref
	Term       uint64
}

// Refuse refuses a child.
type Refuse struct {
	Child      ID
	Generation uint64
	Redirect   []Ref
}

// List sends a child its ancestors beyond this agent, and the root's term.
type List struct {
	Child      ID
	Generation uint64
	Ancestors  []Ref
	Term       uint64
}

// Leave ends a link. Up is true for a link to a parent.
type Leave struct {
	Peer       ID
	Generation uint64
	Up         bool
}

// AskOracle requests the root.
type AskOracle struct{}

// LookHome asks for the process at the address of the configured parent.
type LookHome struct{ Home Ref }

// Observe has all ancestors whose deaths must be detected, in place of those of an earlier Observe.
type Observe struct{ Whom []Ref }

func (Probe) action()     {}
func (Join) action()      {}
func (Accept) action()    {}
func (Refuse) action()    {}
func (List) action()      {}
func (Leave) action()     {}
func (AskOracle) action() {}
func (LookHome) action()  {}
func (Observe) action()   {}
