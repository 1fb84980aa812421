package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A mismatch is what has broken the open operation: a member in another call.
type mismatch struct {
	bad    bool
	member int
	theirs uint64 // its what
}

// Mismatch looks at every member's line and says whether one entered this
// operation with another call: its number and its what. The operation then never
// completes here: Abandon ends it.
//
// It costs a load for each member. Call it now and then while waiting, before
// sleeping, and after waking: a member may have entered another operation
// without doing what this one waits for.
func (g *Group) Mismatch() (member int, theirs uint64, bad bool) {
	if g.phase == idle {
		return 0, 0, false
	}
	if !g.mismatch.bad && g.phase != entering {
		for m := range g.members {
			if what, bad := g.hasOtherCall(m); bad {
				g.breakOperation(m, what)
				break
			}
		}
	}
	return g.mismatch.member, g.mismatch.theirs, g.mismatch.bad
}

// Apart is Mismatch for an operation that is complete here, as long as no other was
// started: whoever goes by messages after a Note looks whether others do the same.
func (g *Group) Apart() (member int, theirs uint64, bad bool) {
	for m := range g.members {
		if what, bad := g.hasOtherCall(m); bad {
			return m, what, true
		}
	}
	return 0, 0, false
}

// hasOtherCall says whether member m has come to this operation with another call. Before m
// is here m's line has the call of an earlier operation, and when m is far ahead, in a row
// of scans, that of a later one: m may begin to write that at any moment, so m is here
// only if it still is after its call was read.
func (g *Group) hasOtherCall(m int) (theirs uint64, bad bool) {
	if !g.isHere(m) {
		return 0, false
	}
	theirs = g.lines.what(g.lines.arrival(m, g.op))
	return theirs, theirs != g.what && g.isHere(m)
}

// isHere says whether member m's line of this operation is there. It stays
// there until this rank leaves the operation, unless that is a scan.
func (g *Group) isHere(m int) bool {
	return segment.Load64(g.lines.word(g.lines.arrival(m, g.op))) == g.members[m].base+uint64(g.op)
}

// Waits returns the members whose arrival or data this rank waits for, for
// messages to people. Where it waits for whoever is last and all have arrived,
// these are all others.
func (g *Group) Waits() []int {
	var waits []int
	for m := range g.members {
		if m != g.me && g.WaitsFor(m) {
			waits = append(waits, m)
		}
	}
	if waits == nil && g.phase != idle && g.waiting != nil {
		for m := range g.members {
			if m != g.me {
				waits = append(waits, m)
			}
		}
	}
	return waits
}

// WaitsFor reports whether the open operation waits for something that member m has not published.
func (g *Group) WaitsFor(m int) bool { return g.phase != idle && g.algorithms[g.phase].waitsFor(g, m) }
