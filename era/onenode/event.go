package onenode

import "github.com/goulfm/goulfm/era"

// Event is an input of a Series: Propose, Failed, Left or Look.
type Event interface{ isEvent() }

// Propose is this member's contribution to agreement Next(). The caller fills the fields listed at
// era.Propose; the Data of an entry has at most EntryMax bytes. Beyond the window the contribution
// is queued, with Acked as it is.
type Propose struct{ Value era.Value }

// Failed reports that member Rank was declared dead, which must be true. A repeated Failed has no
// effect, nor has one of the member's own rank (the owner fences itself).
type Failed struct{ Rank int }

// Left reports that member Rank will never store anything again, and is not to be counted as dead.
type Left struct{ Rank int }

// Look reports that the memory may have changed.
type Look struct{}

func (Propose) isEvent() {}
func (Failed) isEvent()  {}
func (Left) isEvent()    {}
func (Look) isEvent()    {}

// Action is a task for the owner of a Series: there is only Decide.
type Action interface{ isAction() }

// Decide reports that agreement Seq has the result Value: once for each Propose that is decided,
// and in the order of their numbers. The duties of the owner are those of era.Decide.
type Decide struct {
	Seq   uint64
	Value era.Value
}

func (Decide) isAction() {}
