package tree

import "github.com/goulfm/goulfm/internal/base/mono"

// ID names one incarnation of an agent.
type ID struct {
	Name        string
	Incarnation uint64
}

// Ref is an agent, and how it is reached.
type Ref struct {
	ID
	Tier int
	Addr string
}

// Untiered is the tier of who was never attached.
const Untiered = -1

// An Event is something that happened at an agent: Start, Joined, Declined, JoinAsked,
// Listed, Closed, Declared, Answered, Oracle, Deposed, HomeSeen or Tick.
type Event interface{ happened() }

// Start begins.
type Start struct{ At mono.Time }

// Joined accepts the join of that generation.
type Joined struct {
	At         mono.Time
	Parent     Ref
	Generation uint64
	Ancestors  []Ref  // of the parent, nearest first
	Term       uint64 // of the root above
}

// Declined refuses the join of that generation, or says that it could not be delivered.
type Declined struct {
	At         mono.Time
	Generation uint64
	Redirect   []Ref
}

// JoinAsked is the request of a child.
type JoinAsked struct {
	Child      Ref
	Generation uint64
	Parent     ID // the process that it means to reach, checked by Links; incarnation 0 is any
}

// Listed is a list of ancestors of whom thinks to be the parent.
type Listed struct {
	At         mono.Time
	From       ID
	Generation uint64
	Ancestors  []Ref
	Term       uint64
}

// Closed says that a link has ended, by a Leave or because it broke. Up says that it was
// one to a parent.
type Closed struct {
	At         mono.Time
	Peer       ID
	Generation uint64
	Up         bool
}

// Declared says that an incarnation is dead, as far as this agent is concerned.
type Declared struct {
	At  mono.Time
	Who ID
}

// Answered answers a Probe: Is is who is there.
type Answered struct {
	At    mono.Time
	Asked ID
	Is    ID
}

// Oracle answers AskOracle. Root is nil if nobody knows.
type Oracle struct {
	At   mono.Time
	Root *Ref
}

// Deposed says, to a root, that there is another one, of a greater term.
type Deposed struct{ Term uint64 }

// HomeSeen answers LookHome: who is at the configured parent's address.
type HomeSeen struct {
	At   mono.Time
	Home Ref
}

// Tick says what time it is.
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

// An Action is something that the agent's owner must do: Probe, Join, Accept, Refuse, List,
// Leave, AskOracle, LookHome or Observe.
type Action interface{ action() }

// Probe asks whether an ancestor lives. What comes of it is Answered or Declared, or nothing.
type Probe struct{ To Ref }

// Join asks to become a child.
type Join struct {
	To         Ref
	Child      Ref
	Generation uint64
}

// Accept takes a child.
type Accept struct {
	Child      ID
	Generation uint64
	Parent     Ref
	Ancestors  []Ref
	Term       uint64
}

// Refuse does not.
type Refuse struct {
	Child      ID
	Generation uint64
	Redirect   []Ref
}

// List tells a child its ancestors beyond this agent, and the root's term.
type List struct {
	Child      ID
	Generation uint64
	Ancestors  []Ref
	Term       uint64
}

// Leave ends a link. Up says that it is one to a parent.
type Leave struct {
	Peer       ID
	Generation uint64
	Up         bool
}

// AskOracle asks who the root is.
type AskOracle struct{}

// LookHome asks who is at the configured parent's address.
type LookHome struct{ Home Ref }

// Observe is the whole list of ancestors whose deaths have to be detected.
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
