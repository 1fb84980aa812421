package flood

import "github.com/goulfm/goulfm/internal/base/rankset"

// An Event is something that happened to a member: Publish, Note, Receive, Failed
// or Compare.
type Event interface{ event() }

// Publish says that this member learnt Items at first hand.
type Publish struct {
	Items rankset.Set // each below Config.Items
}

// Note says that this member learnt Items in a way in which every other member
// learns them too: they are in the set from now on, and nothing is sent. Whoever was
// missed gets them with the next set that is sent to it, or by a Compare.
type Note struct {
	Items rankset.Set // each below Config.Items
}

// Receive is the arrival of a message that another member's Send carried. Msg is
// read during Step only.
type Receive struct {
	From int // a member other than this one
	Msg  []byte
}

// Failed closes a member: nothing is sent to it or taken from it any more. A
// nearest live neighbour that was no target before gets the whole set (B3).
type Failed struct {
	Rank int // a member other than this one
}

// Vacated says that nobody refers to a member any more: another one may get its place. Items
// about the one before are given as Items. It takes a Silent flood: no message is on its way.
type Vacated struct {
	Rank  int
	Items rankset.Set
}

// Came says that a member that was reported as Failed, since it was not there yet, is there now:
// for the first time, so no message of another one of its number can be on its way.
type Came struct {
	Rank int // a member other than this one
}

// Compare says that the digest of With's set came along on some other message. If
// it is not the digest of this member's set, With gets the whole set, and answers
// with its own if that has more (B3).
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

// An Action is something the caller must do: Send, Deliver or Anomaly.
type Action interface{ action() }

// Send hands Msg to member To. The bytes belong to whoever takes the action.
type Send struct {
	To  int
	Msg []byte
}

// Deliver announces items that are new in the set, own ones included. An item is
// delivered exactly once. The set belongs to whoever takes the action.
type Deliver struct {
	Items rankset.Set
}

// Anomaly reports a message that is not one of this package's. It changed nothing.
type Anomaly struct {
	From int
	Text string
}

func (Send) action()    {}
func (Deliver) action() {}
func (Anomaly) action() {}
