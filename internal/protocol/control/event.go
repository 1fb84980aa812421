package control

import (
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// Event is an input of the machine: one of the types below.
type Event interface{ event() }

// Exited reports that process Proc has certainly ended without Finalize. The process is declared
// dead at once.
type Exited struct{ Proc int }

// Lost reports that process Proc was declared dead without exact evidence, like all processes of a
// node that was declared dead. The process is dead to all others, but may still run for a moment.
// If it sends a frame, it is notified of its death, once.
type Lost struct{ Proc int }

// Departed reports that process Proc of another world ended after its Finalize. The process is
// treated like a dead process, but its death is not flooded: a member that has not read of the
// departure may still use the messages that Proc sent before.
type Departed struct{ Proc int }

// Broken reports that the connection to process Proc broke: a suspicion.
type Broken struct{ Proc int }

// Left reports that process Proc has returned from Finalize.
type Left struct{ Proc int }

// Tick reports the time Now. A Tick is due when Deadline has passed.
type Tick struct{ Now mono.Time }

// Receive is one control frame from process From. The bytes are read only
// during the Step.
type Receive struct {
	From  int
	Frame []byte
}

// Propose is this member's part in a call on communicator Comm that ends in an
// agreement. It is answered by exactly one Decided with the same Token, which
// must differ from the Tokens of all open Proposes of the process.
type Propose struct {
	Comm  uint32
	Token uint64
	Call  commstate.Call
	Flag  uint64 // agree: this member's operand; the result is the AND of all
	Veto  bool   // this caller's arguments are wrong: the call must fail at all members
	Color int    // split and the like: members of one colour form a communicator; commstate.Undefined: none
	Key   int    // split and the like: order in the new communicator, ties by old rank

	// Digest is of the arguments that must be the same at all members; see commstate.Propose.
	Digest uint64

	// Members and Tag are for a call that gathers (see commstate.Kind.Gathers). Members are the
	// world processes that make the call, this process among them, and all are members of Comm. Tag
	// distinguishes the call from other calls of the same members. All members give the same
	// values.
	Members []int
	Tag     int

	Spawned commstate.Spawned // spawn and replace, at the root: the started processes
	Ranks   []int             // replace: the ranks of the started processes

	// Entered: EnterPlain has entered Call, and Step continues the call. Its contribution does not
	// change.
	Entered bool
}

// Look reports that the shared memory of the members of communicator Comm may have changed.
type Look struct{ Comm uint32 }

// Revoke reports that the program revoked communicator Comm. A Revoke of a revoked or freed
// communicator does nothing.
type Revoke struct{ Comm uint32 }

// Outlived reports a revocation whose revoker has died since. Other processes spread the
// revocation, too, if they have learnt of it (B24).
type Outlived struct{ Name commstate.Revocation }

// Uniform sets whether a failure of a member of communicator Comm revokes Comm here. If a failure
// is known already, Comm is revoked at once. A communicator that is made from Comm inherits the
// mode that Comm has then.
type Uniform struct {
	Comm uint32
	On   bool
}

// Succeed makes communicator Comm the successor of the world at this process: Finalize closes Comm,
// and the program may then close the former world, which otherwise refers to its dead for ever. All
// members of Comm must do so before any of them is in Finalize.
type Succeed struct{ Comm uint32 }

func (Succeed) event()  {}
func (Uniform) event()  {}
func (Exited) event()   {}
func (Departed) event() {}
func (Lost) event()     {}
func (Broken) event()   {}
func (Left) event()     {}
func (Tick) event()     {}
func (Receive) event()  {}
func (Propose) event()  {}
func (Look) event()     {}
func (Revoke) event()   {}
func (Outlived) event() {}

// Action is a task of the caller of Step: one of the types below.
type Action interface{ action() }

// Send requests that one control frame is sent to process To, behind all earlier frames to To. The
// bytes belong to the host.
type Send struct {
	To    int
	Frame []byte
}

// Declared reports that process Proc is dead, for ever. Declared comes once per process and before
// every consequence of the death.
type Declared struct {
	Proc     int
	Evidence fd.Evidence
}

// Suspected reports that process Proc is silent or unreachable. A host that can should find out
// whether Proc has ended.
type Suspected struct {
	Proc       int
	Unanswered bool // Proc did not answer the second check either: a host with the permission can kill Proc and report Exited
}

// Revoked reports that communicator Comm is now revoked here. Revoked comes once.
type Revoked struct{ Comm uint32 }

// Reserved reports that context index Index was drawn for a communicator that a call on Parent may
// make. Frames for Index may arrive from now on, before the call is decided here. The host must
// hold data frames until Decided names Index as the new communicator, or Forgotten comes.
type Reserved struct{ Index, Parent uint32 }

// Decided reports the outcome of the call of the Propose with this Token.
type Decided struct {
	Comm    uint32
	Token   uint64
	Outcome commstate.Outcome
}

// Placed reports that an agreement in which Finalize took part has ended on communicator Comm.
// Other members may be asleep and must be woken to poll it.
type Placed struct{ Comm uint32 }

// Forgotten reports that context index Index is no longer in use: the call that drew Index made no
// communicator, or all members freed its communicator. The host must drop everything that it holds
// for Index.
type Forgotten struct{ Index uint32 }

// LetGo reports that this process no longer refers to process Proc, which is dead or has left. The
// slot of Proc may be given to another process (Config.Slots).
type LetGo struct{ Proc int }

// Fenced reports that the others have declared this process dead. The process must stop at once and
// return no result. Fenced is the last action.
type Fenced struct{ Why string }

// Anomaly reports an invalid frame of process From. The frame was ignored.
type Anomaly struct {
	From int
	Text string
}

func (Send) action()      {}
func (Declared) action()  {}
func (Suspected) action() {}
func (Revoked) action()   {}
func (Reserved) action()  {}
func (Decided) action()   {}
func (Placed) action()    {}
func (Forgotten) action() {}
func (LetGo) action()     {}
func (Fenced) action()    {}
func (Anomaly) action()   {}
