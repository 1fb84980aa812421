package flood

import "github.com/goulfm/goulfm/internal/base/rankset"

// An Event is something that happened to a member: Publish, Note, Receive, Failed, Vacated, Came or
// Compare.
type Event interface{ event() }

// Publish means that this member learned Items at first hand.
type Publish struct {
	Items rankset.Set // each below Config.Items
}

// Note means that this member learned Items in a way in which every other member learns them too.
// They are in the set from now on, and no message is sent. A member that missed them gets them with
// the next set that is sent to it, or by a Compare.
type Note struct {
	Items rankset.Set // each below Config.Items
}

// Receive is the arrival of a message that another member's Send carried. Msg is
// read during Step only.
type Receive struct {
	From int // a member other than this one
	Msg  []byte
}

// Failed closes a member: no message is sent to it or accepted from it any more. A nearest live
// neighbour that was no target before gets the whole set (B3).
type Failed struct {
	Rank int // a member other than this one
}

// Vacated means that no member refers to this one any more: another process may get its number.
// Items are the items about the previous process, which leave the set. Vacated requires a Silent
// flood: no message is on its way.
type Vacated struct {
	Rank  int
	Items rankset.Set
}

// Came means that a member that was reported as Failed, because it had not joined yet, has joined.
// This is the first time, so no message of another process with its number can be on its way.
type Came struct {
	Rank int // a member other than this one
}

// Compare means that another message carried the digest of With's set. If it is not the digest of
// this member's set, With gets the whole set, and answers with its own if that has more (B3).
type Compare struct {
	With   int // a member other than this one
	Digest uint64
}

func (Publish) event() {}
func (Note) event()    {}
func (Receive) event() {}
func (Failed) event()  {}
func (Compare) event() {}
func (Vacated) event() {}
func (Came) event()    {}

// An Action is an order to the caller: Send, Deliver or Anomaly.
type Action interface{ action() }

// Send passes Msg to member To. The bytes belong to the executor of the action.
type Send struct {
	To  int
	Msg []byte
}

// Deliver announces items that are new in the set, own ones included. An item is delivered exactly
// once. The set belongs to the executor of the action.
type Deliver struct {
	Items rankset.Set
}

// Anomaly reports a malformed message. The message changed nothing.
type Anomaly struct {
	From int
	Text string
}

func (Send) action()    {}
func (Deliver) action() {}
func (Anomaly) action() {}
