package onenode

import "github.com/goulfm/goulfm/era"

// Event is what may happen to a Series: Propose, Failed, Left or Look.
type Event interface{ isEvent() }

// Propose is this member's contribution to agreement Next(). What the caller fills
// is said at era.Propose; the Data of an entry has at most EntryMax bytes. Beyond
// the window the contribution is queued, with Acked as it is.
type Propose struct{ Value era.Value }

// Failed says that member Rank was declared dead, which must be true. A repeated one
// and the member's own rank (the owner fences itself) do nothing.
type Failed struct{ Rank int }

// Left says that member Rank will never store anything again, and is not to be
// counted as dead.
type Left struct{ Rank int }

// Look says that the memory may have moved.
type Look struct{}

func (Propose) isEvent() {}
func (Failed) isEvent()  {}
func (Left) isEvent()    {}
func (Look) isEvent()    {}

// Action is what the owner of a Series must do: there is only Decide.
type Action interface{ isAction() }

// Decide says that agreement Seq has the result Value: once for each Propose that is
// decided, and in the order of their numbers. What the owner does with it is said at
// era.Decide.
type Decide struct {
	Seq   uint64
	Value era.Value
}

func (Decide) isAction() {}
