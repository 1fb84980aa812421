package commstate

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Event is what happens to a communicator at one member: one of the types
// below. Ranks are ranks of the communicator.
type Event interface{ event() }

// Propose is this member's part in a call that ends in an agreement. The
// proposer has checked that the communicator is neither freed nor, for a
// creation, revoked.
type Propose struct {
	Token uint64 // given back in Decide or GiveUp
	Call  Call
	Flag  uint64
	Veto  bool   // the call must fail at all members
	Index uint32 // context index drawn for the new communicator, if Call.DrawsIndex and no Veto
	Color int    // split and the like: members of one colour form a communicator
	Key   int    // split and the like: order in it, ties by old rank

	// Digest is of the arguments that all members must give alike (see Digest); in a
	// dist_graph a sum that is zero over all members (see Edges), in a merge what is the
	// same in each of the groups (see Side).
	Digest uint64

	Spawned Spawned // spawn and replace, at the root: what has been started

	// Ranks are, in a replace, those that the processes get which are started, in their order;
	// the same at all members, whose Digest is of them.
	Ranks []int

	// Entered: the contribution was made by EnterPlain, and is not made again.
	Entered bool
}

// Receive is one message of rank From.
type Receive struct {
	From int
	Part Part
	Seq  uint64 // number of the agreement; 0 with PartRevoke
	Msg  []byte // read only during the Step
}

// Revoke says that this member revokes the communicator.
type Revoke struct{}

// Died says that Rank was declared dead.
type Died struct{ Rank int }

// Listed says that the list of departures of this member's node has the death of Rank. It comes
// behind Died, and may come much later: others may have agreed on a death before the node hears of
// it.
type Listed struct{ Rank int }

// Left says that Rank has finalized, or never took up the communicator: nobody
// waits for it, nor counts it as dead.
type Left struct{ Rank int }

// Dismiss gives up every open call: the communicator is about to be forgotten.
type Dismiss struct{}

// Look says that the memory which the members share may have moved.
type Look struct{}

// Ended says that the closing agreement has decided at some member.
type Ended struct{}

// Tick says that the time is Now.
type Tick struct{ Now mono.Time }

func (Propose) event() {}
func (Receive) event() {}
func (Revoke) event()  {}
func (Died) event()    {}
func (Listed) event()  {}
func (Left) event()    {}
func (Look) event()    {}
func (Ended) event()   {}
func (Dismiss) event() {}
func (Tick) event()    {}

// Action is what the owner of a Comm must do: one of the types below.
type Action interface{ action() }

// Send asks to give a message to rank To, behind all given to it before.
type Send struct {
	To   int
	Part Part
	Seq  uint64
	Msg  []byte
}

// Revoked says that the communicator is now revoked here. It comes once.
type Revoked struct{}

// Decide says that the agreement of a proposal has decided here. Every death in
// Value is first to be declared, then Outcome gives the call's result (R31).
type Decide struct {
	Proposal Proposal
	Value    era.Value

	// Tell is, for a closing agreement that ended by hearsay, the members that may
	// wait for this one to tell them.
	Tell rankset.Set
}

// GiveUp says that a call ends here without its agreement: a creation because
// the communicator was revoked (ulfm.ErrRevoked; see Proposal for what becomes of the
// agreement), any other because it was dismissed (ErrFreed).
type GiveUp struct {
	Proposal Proposal
	Class    error
}

// Watch says that this member now waits for Rank: its life should be probed.
type Watch struct{ Rank int }

// Anomaly reports a message of rank From that cannot be right.
type Anomaly struct {
	From int
	Text string
}

func (Send) action()    {}
func (Revoked) action() {}
func (Decide) action()  {}
func (GiveUp) action()  {}
func (Watch) action()   {}
func (Anomaly) action() {}
