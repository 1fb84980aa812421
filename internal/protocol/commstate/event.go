package commstate

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Event is an input of a Comm: one of the types below. Ranks are ranks of the
// communicator.
type Event interface{ event() }

// Propose is this member's part in a call that ends in an agreement. The
// proposer has checked that the communicator is neither freed nor, for a
// creation, revoked.
type Propose struct {
	Token uint64 // returned in Decide or GiveUp
	Call  Call
	Flag  uint64
	Veto  bool   // the call must fail at all members
	Index uint32 // context index drawn for the new communicator, if Call.DrawsIndex and no Veto
	Color int    // split and the like: members of one colour form a communicator
	Key   int    // split and the like: order in it, ties by old rank

	// Digest is of the arguments that must be the same at all members (see Digest). In a
	// dist_graph it is a number whose sum over all members is zero (see Edges), in a merge a
	// number that is the same in each of the two groups (see Side).
	Digest uint64

	Spawned Spawned // spawn and replace, at the root: the started processes

	// Ranks are, in a replace, the new ranks of the started processes, in the order of the
	// processes. They are the same at all members, and Digest is of them.
	Ranks []int

	// Entered: EnterPlain has made the contribution, and Step does not repeat it.
	Entered bool
}

// Receive is one message of rank From.
type Receive struct {
	From int
	Part Part
	Seq  uint64 // number of the agreement; 0 with PartRevoke
	Msg  []byte // read only during the Step
}

// Revoke means that this member revokes the communicator.
type Revoke struct{}

// Died reports that Rank was declared dead.
type Died struct{ Rank int }

// Listed reports that the list of departures of this member's node has the death of Rank. It comes
// after Died, and may come much later: members elsewhere may have agreed on a death before this
// node learns of it.
type Listed struct{ Rank int }

// Left reports that Rank has finalized, or never joined the communicator. No member waits for
// Rank, and none counts it as dead.
type Left struct{ Rank int }

// Dismiss gives up every open call: the communicator is about to be forgotten.
type Dismiss struct{}

// Look reports that the memory which the members share may have changed.
type Look struct{}

// Ended reports that the closing agreement has decided at another member.
type Ended struct{}

// Tick reports that the time is Now.
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

// Action is a task of the owner of a Comm: one of the types below.
type Action interface{ action() }

// Send requests that a message is sent to rank To, after all earlier messages to that rank.
type Send struct {
	To   int
	Part Part
	Seq  uint64
	Msg  []byte
}

// Revoked reports that the communicator is now revoked here. It comes once.
type Revoked struct{}

// Decide reports that the agreement of a proposal has decided here. The owner first declares
// every death in Value; then Outcome gives the call's result (R31).
type Decide struct {
	Proposal Proposal
	Value    era.Value

	// Tell is, for a closing agreement that Ended has decided, the members that may wait
	// for this one: the owner notifies them.
	Tell rankset.Set
}

// GiveUp reports that a call ends here without its agreement: a creation because the
// communicator was revoked (ulfm.ErrRevoked; Proposal.GivenUp describes the rest of the agreement),
// any call because the communicator was dismissed (ErrFreed).
type GiveUp struct {
	Proposal Proposal
	Class    error
}

// Watch requests a probe of Rank, for which this member waits.
type Watch struct{ Rank int }

// Anomaly reports a message of rank From that no correct member sends.
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
