package twolevel

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Event is what may happen to a Series: Propose, Receive, Failed, Listed, Left, Look or
// Tick. What comes of it are the actions of package era.
type Event interface{ isEvent() }

// Propose is this member's contribution to agreement Next(). What the caller fills is
// said at era.Propose; the Data of an entry has at most onenode.EntryMax bytes. Beyond the
// window the contribution is queued, with Acked as it is.
type Propose struct{ Value era.Value }

// Receive is a message of agreement Seq from rank From of another node. Msg is only read
// during the Step. All that the list of this node holds by now was told before: if not, the
// message is kept all the same, unless it is beyond the window.
type Receive struct {
	From int
	Seq  uint64
	Msg  []byte
}

// Failed says that rank Rank is known to be dead, from wherever: it can be acknowledged,
// and later contributions report it. It is skipped and not heard any more only when it is
// Listed (A27). A repeated one and the member's own rank (the owner fences itself) do
// nothing.
type Failed struct{ Rank int }

// Listed says that the list of this node has the death of rank Rank. All members of a node
// are told the same of this list, in the same order. It says what Failed says, too.
type Listed struct{ Rank int }

// Left says that the list of this node has that rank Rank has gone in an orderly way: it
// will never store or send anything again, and is not to be counted as dead.
type Left struct{ Rank int }

// Look says that the memory of the node may have moved.
type Look struct{}

// Tick tells the time. It is asked for by Deadline.
type Tick struct{ Now mono.Time }

func (Propose) isEvent() {}
func (Receive) isEvent() {}
func (Failed) isEvent()  {}
func (Listed) isEvent()  {}
func (Left) isEvent()    {}
func (Look) isEvent()    {}
func (Tick) isEvent()    {}
