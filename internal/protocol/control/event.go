package control

import (
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// Event is what happens to a process: one of the types below.
type Event interface{ event() }

// Exited says that process Proc has certainly ended without Finalize: it is
// declared dead at once.
type Exited struct{ Proc int }

// Lost says that process Proc was declared dead without exact evidence, as all of a node that
// was: it is dead to all, and may run on for a moment. If it speaks it is told so, once.
type Lost struct{ Proc int }

// Departed says that process Proc of another world ended after its Finalize. It takes part in
// nothing any more, as if it were dead, but no death is flooded: a member that has not read its
// departure may still use what it sent before it left.
type Departed struct{ Proc int }

// Broken says that the connection to process Proc broke: a suspicion.
type Broken struct{ Proc int }

// Left says that process Proc has returned from Finalize.
type Left struct{ Proc int }

// Tick says that the time is Now. It is due when Deadline has passed.
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
	Flag  uint64 // agree: what the result is the AND of
	Veto  bool   // this caller's arguments are wrong: the call must fail at all members
	Color int    // split and the like: members of one colour form a communicator; commstate.Undefined: none
	Key   int    // split and the like: order in the new communicator, ties by old rank

	// Digest is of the arguments that must be the same at all members; see commstate.Propose.
	Digest uint64

	// Members and Tag are for a call that gathers (see commstate.Kind.Gathers): the world
	// processes that make it, this one among them and all of them members of Comm, and
	// what tells it from others of the same members. All members give the same.
	Members []int
	Tag     int

	Spawned commstate.Spawned // spawn and replace, at the root: what has been started
	Ranks   []int             // replace: those of the processes that are started

	// Entered: Call was entered by EnterPlain and goes on by Step. Its contribution
	// stands as it is.
	Entered bool
}

// Look says that the memory which the members of communicator Comm share may have
// moved.
type Look struct{ Comm uint32 }

// Revoke says that the program revoked communicator Comm. Revoking twice, or
// one that is freed, does nothing.
type Revoke struct{ Comm uint32 }

// Outlived says that a process that has died since had revoked a communicator. Others spread that,
// too, if they have heard of it (B24).
type Outlived struct{ Name commstate.Revocation }

// Uniform says whether a failure of a member of communicator Comm revokes it here by
// itself. With a failure that is known it does at once. What is made from Comm begins
// as Comm is then.
type Uniform struct {
	Comm uint32
	On   bool
}

// Succeed has communicator Comm take the place of the world at this process: Finalize closes it,
// and the program may then close the former one, which else refers to its dead for ever. All
// members of Comm do so before any of them is in Finalize.
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

// Action is what the caller of Step must do: one of the types below.
type Action interface{ action() }

// Send asks to give one control frame to process To, behind all frames given to
// it before. The bytes belong to whoever executes the action.
type Send struct {
	To    int
	Frame []byte
}

// Declared says that process Proc is dead, for ever. It comes once per process
// and before every consequence of the death.
type Declared struct {
	Proc     int
	Evidence fd.Evidence
}

// Suspected says that process Proc is silent or unreachable. Whoever can, should
// find out whether it has ended.
type Suspected struct {
	Proc       int
	Unanswered bool // it did not answer the second check either: who may, can kill it and report Exited
}

// Revoked says that communicator Comm is now revoked here. It comes once.
type Revoked struct{ Comm uint32 }

// Reserved says that context index Index was drawn for a communicator that a
// call on Parent may make. Frames for Index may arrive from now on, before the
// call is decided here: data frames are to be held until Decided names Index as
// the new communicator, or Forgotten comes.
type Reserved struct{ Index, Parent uint32 }

// Decided says how the call of the Propose with this Token ended.
type Decided struct {
	Comm    uint32
	Token   uint64
	Outcome commstate.Outcome
}

// Placed says that an agreement has ended on communicator Comm in which Finalize took part.
// Other members may sleep until they look at it.
type Placed struct{ Comm uint32 }

// Forgotten says that context index Index means nothing any more: the call that
// drew it made no communicator, or its communicator was freed by all members.
// Everything held for it is to be dropped.
type Forgotten struct{ Index uint32 }

// LetGo says that nothing here refers any more to process Proc, which is dead or has left: its
// slot may be given to another process (Config.Slots).
type LetGo struct{ Proc int }

// Fenced says that the others have declared this process dead: it must stop at
// once and return no result. It is the last action.
type Fenced struct{ Why string }

// Anomaly reports a frame of process From that cannot be right. It was ignored.
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
