package twolevel

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Event is an input of a Series: Propose, Receive, Failed, Listed, Left, Look or Tick. The results
// are the actions of package era.
type Event interface{ isEvent() }

// Propose is this member's contribution to agreement Next(). The caller fills the fields listed at
// era.Propose; the Data of an entry has at most onenode.EntryMax bytes. Beyond the window the
// contribution is queued, with Acked as it is.
type Propose struct{ Value era.Value }

// Receive is a message of agreement Seq from rank From of another node. Msg is only read during the
// Step. The present contents of the list of this node should be reported before. If they are not,
// the message is still kept, unless it is beyond the window.
type Receive struct {
	From int
	Seq  uint64
	Msg  []byte
}

// Failed reports that rank Rank is known to be dead, from any source: the death can be
// acknowledged, and later contributions report it. Rank is skipped and its messages are dropped
// only when Listed (A27). A repeated Failed has no effect, nor has one of the member's own rank
// (the owner fences itself).
type Failed struct{ Rank int }

// Listed reports that the list of this node has the death of rank Rank. All members of a node get
// the same entries of this list, in the same order. Listed implies Failed.
type Listed struct{ Rank int }

// Left reports that the list of this node has the orderly departure of rank Rank: Rank will never
// store or send anything again, and is not to be counted as dead.
type Left struct{ Rank int }

// Look reports that the memory of the node may have changed.
type Look struct{}

// Tick gives the current time, as requested by Deadline.
type Tick struct{ Now mono.Time }

func (Propose) isEvent() {}
func (Receive) isEvent() {}
func (Failed) isEvent()  {}
func (Listed) isEvent()  {}
func (Left) isEvent()    {}
func (Look) isEvent()    {}
func (Tick) isEvent()    {}
