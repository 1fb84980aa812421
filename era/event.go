package era

import "github.com/goulfm/goulfm/internal/base/mono"

// Event is what may happen to a Series: Propose, Receive, Failed, Left,
// Learned or Tick.
type Event interface{ isEvent() }

// Propose is this member's contribution to agreement Next().
//
// The caller fills Flag, Vetoes, Acked (its acknowledged deaths as of this
// moment; each must have been announced by Failed or Config.Dead), Entries (at
// most one, of rank Me) and Lo = Hi = its claim. The Series fills From, Dead and
// Returned. Beyond the window the contribution is queued, with Acked as it is.
//
// Where participants are teams (Config.Teams) it is the contribution of all ranks of this
// one: the caller fills From, which has rank Me, and Dead, too. Two speakers of one
// participant contribute the same to an agreement, in everything but Dead (A28).
type Propose struct {
	Value Value
	// Again says that an earlier speaker of this participant may have proposed the
	// same: its messages, and the answers to them, are lost with it (A25).
	Again bool
}

// Learned says that this participant has decided agreement Seq, which is Next(), as Value,
// although this member has not: an earlier speaker did, or another speaks for it now. It
// counts as proposed and decided here; there is no Decide for it.
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

// Failed says that member Rank was declared dead. It closes the rank: every
// frame of it that is handed in later is dropped (A6). A repeated one and the
// member's own rank (the owner fences itself) do nothing. A participant of several ranks
// is closed when all of them are; until then another rank speaks for it.
type Failed struct{ Rank int }

// Left says that member Rank has gone in an orderly way: nobody waits for it and
// its frames are dropped, exactly as if it had failed, but no contribution of
// this member names it in Value.Dead.
type Left struct{ Rank int }

// Tick tells the time. It is asked for by Deadline.
type Tick struct{ Now mono.Time }

func (Propose) isEvent() {}
func (Receive) isEvent() {}
func (Failed) isEvent()  {}
func (Left) isEvent()    {}
func (Learned) isEvent() {}
func (Tick) isEvent()    {}

// Action is what the owner of a Series must do: Send, Decide, Probe or Anomaly.
type Action interface{ isAction() }

// Send asks to send Msg, of agreement Seq, to member To. Msg belongs to the
// receiver of the action.
type Send struct {
	To  int
	Seq uint64
	Msg []byte
}

// Decide says that agreement Seq has the result Value. There is exactly one for
// each decided Propose; Seqs may come in any order. The owner announces the
// deaths in Value.Dead by Failed before it does anything else with it; if its
// own rank is among them it fences itself. Value belongs to the receiver of the
// action, but the Data of its Entries must not be written.
type Decide struct {
	Seq   uint64
	Value Value
}

// Probe asks to check at once that member Rank lives, because this member waits
// for it and there is a hint that it may be dead (rule 4, A21).
type Probe struct{ Rank int }

// Anomaly reports a message from member From that is malformed or impossible, or
// that asks for a result nobody alive can need any more. It had no effect.
type Anomaly struct {
	From int
	Text string
}

func (Send) isAction()    {}
func (Decide) isAction()  {}
func (Probe) isAction()   {}
func (Anomaly) isAction() {}
