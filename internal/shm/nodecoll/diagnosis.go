package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A mismatch is the reason why the open operation is broken: a member in another call.
type mismatch struct {
	bad    bool
	member int
	theirs uint64 // its call
}

// Mismatch reads every member's line and reports whether a member entered this operation with
// another call: the member's number and its call. The operation then never completes here: Abandon
// ends it.
//
// Mismatch costs a load for each member. Call it from time to time while waiting, before sleeping,
// and after waking: a member may have made another call and may never publish the words for which
// this operation waits.
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

// Apart is Mismatch for an operation that is complete here, as long as no other was started: a
// member that uses messages after a Note checks with Apart whether others make the same call.
func (g *Group) Apart() (member int, theirs uint64, bad bool) {
	for m := range g.members {
		if what, bad := g.hasOtherCall(m); bad {
			return m, what, true
		}
	}
	return 0, 0, false
}

// hasOtherCall reports whether member m has entered this operation with another call. Before m
// enters, m's line has the call of an earlier operation. When m is far ahead, in a row of scans,
// the line has the call of a later operation. m may begin to write this call at any moment, so
// hasOtherCall checks again after reading the call that the line belongs to this operation.
func (g *Group) hasOtherCall(m int) (theirs uint64, bad bool) {
	if !g.isHere(m) {
		return 0, false
	}
	theirs = g.lines.what(g.lines.arrival(m, g.op))
	return theirs, theirs != g.what && g.isHere(m)
}

// isHere reports whether member m's line of this operation is there. The line stays there until
// this rank leaves the operation, unless the operation is a scan.
func (g *Group) isHere(m int) bool {
	return segment.Load64(g.lines.word(g.lines.arrival(m, g.op))) == g.members[m].base+uint64(g.op)
}

// Waits returns the members whose arrival or data this rank waits for, for diagnostic messages. If
// all have arrived and this rank waits for the release by the last member, Waits returns all
// others.
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
