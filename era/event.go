package era

import "github.com/goulfm/goulfm/internal/base/mono"

// Event is an input of a Series: Propose, Receive, Failed, Left, Learned or Tick.
type Event interface{ isEvent() }

// Propose is this member's contribution to agreement Next().
//
// The caller fills Flag, Vetoes, Acked (its acknowledged deaths as of this
// moment; each must have been announced by Failed or Config.Dead), Entries (at
// most one, of rank Me) and Lo = Hi = its claim. The Series fills From, Dead and
// Returned. Beyond the window the contribution is queued, with Acked as it is.
//
// With Config.Teams a Propose is the contribution of all ranks of this participant: the caller
// fills From, which has rank Me, and Dead, too. Two speakers of one participant contribute the same
// to an agreement, in everything but Dead (A28).
type Propose struct {
	Value Value
	// Again reports that an earlier speaker of this participant may have proposed the same: its
	// messages, and the answers, are lost with that speaker (A25).
	Again bool
}

// Learned reports that this participant has decided agreement Seq, which is Next(), as Value,
// although this member has not: an earlier speaker did, or another rank is the speaker now. The
// agreement counts as proposed and decided here; no Decide follows.
type Learned struct {
	Seq   uint64
	Value Value
}

// Receive is a message of agreement Seq from member From. Msg is only read
// during the Step.
type Receive struct {
	From int
	Seq  uint64
	Msg  []byte
}

// Failed reports that member Rank was declared dead, and closes the rank: every later frame from
// Rank is dropped (A6). A repeated Failed has no effect, nor has one of the member's own rank (the
// owner fences itself). A participant of several ranks is closed when all of them are; until then
// another rank is its speaker.
type Failed struct{ Rank int }

// Left reports that member Rank has left in an orderly way: no member waits for Rank and its frames
// are dropped, exactly as after Failed, but no contribution of this member names Rank in
// Value.Dead.
type Left struct{ Rank int }

// Tick gives the current time, as requested by Deadline.
type Tick struct{ Now mono.Time }

func (Propose) isEvent() {}
func (Receive) isEvent() {}
func (Failed) isEvent()  {}
func (Left) isEvent()    {}
func (Learned) isEvent() {}
func (Tick) isEvent()    {}

// Action is a task for the owner of a Series: Send, Decide, Probe or Anomaly.
type Action interface{ isAction() }

// Send asks to send Msg, of agreement Seq, to member To. Msg belongs to the
// receiver of the action.
type Send struct {
	To  int
	Seq uint64
	Msg []byte
}

// Decide reports that agreement Seq has the result Value. There is exactly one Decide for each
// decided Propose; Seqs may come in any order. The owner announces the deaths in Value.Dead by
// Failed before any other use of the result; if its own rank is among them, the owner fences
// itself. Value belongs to the receiver of the action, but the Data of its Entries must not be
// written.
type Decide struct {
	Seq   uint64
	Value Value
}

// Probe requests an immediate check of member Rank, because this member waits for Rank and there is
// a hint that Rank may be dead (rule 4, A21).
type Probe struct{ Rank int }

// Anomaly reports a message from member From that is malformed or impossible, or that asks for a
// result that no living member can need any more. The message had no effect.
type Anomaly struct {
	From int
	Text string
}

func (Send) isAction()    {}
func (Decide) isAction()  {}
func (Probe) isAction()   {}
func (Anomaly) isAction() {}
