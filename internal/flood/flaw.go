package flood

import (
	"slices"

	"github.com/goulfm/goulfm/internal/must"
	"github.com/goulfm/goulfm/internal/rankset"
)

// Flaw is one rule left out on purpose, so that the simulator can show that it
// is needed. Production uses NoFlaw, and is built without the tag "sabotage":
// then a Flaw does nothing.
type Flaw uint8

// The flaws.
const (
	// NoFlaw is the full set of rules.
	NoFlaw Flaw = iota
	// FlawRelay: a set that grew by a message is not sent on (B3; RR-9024, T5,
	// forwards for ever).
	FlawRelay
	// FlawMend: a death that opens the ring is not mended (B3): nobody sends again
	// what a dead relay had.
	FlawMend
	// FlawOneItem: a message adds one item, as RDAEMON's, however many it carries
	// (B6).
	FlawOneItem
	// FlawAnswer: who lacks items is not told them when that shows (B2).
	FlawAnswer
)

// LeaveOut makes the member break a rule from now on.
func (f *Flood) LeaveOut(rule Flaw) { f.flaw = rule }

// is says whether one of these rules is left out: never in production.
func (f Flaw) is(these ...Flaw) bool { return must.Sabotage && slices.Contains(these, f) }

// oneItem is all of a message that FlawOneItem takes.
func oneItem(theirs, mine rankset.Set) rankset.Set {
	theirs.Subtract(mine)
	if first := theirs.Next(0); first >= 0 {
		return rankset.Of(first)
	}
	return theirs
}
