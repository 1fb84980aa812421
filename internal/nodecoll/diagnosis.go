package nodecoll

import (
	"math"

	"github.com/goulfm/goulfm/internal/segment"
)

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
	if !g.bad && g.phase != entering {
		for m := range g.members {
			if what, bad := g.differs(m); bad {
				g.broken(m, what)
				break
			}
		}
	}
	return g.theirsOf, g.theirs, g.bad
}

// Apart is Mismatch for an operation that is complete here, as long as no other was
// started: whoever goes by messages after a Note looks whether others do the same.
func (g *Group) Apart() (member int, theirs uint64, bad bool) {
	for m := range g.members {
		if what, bad := g.differs(m); bad {
			return m, what, true
		}
	}
	return 0, 0, false
}

// differs says whether member m has come to this operation with another call. Before it
// is here its line has the call of an earlier operation, and when it is far ahead, in a row
// of scans, that of a later one: it may begin to write that at any moment, so it is here
// only if it still is after its call was read.
func (g *Group) differs(m int) (theirs uint64, bad bool) {
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
		if m != g.me && g.phase != idle && g.waitsFor(m) {
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

func (g *Group) waitsFor(m int) bool {
	p := &g.members[m]
	switch g.phase {
	case entering:
		j := g.used()
		if g.sharedOp <= j && m != g.me+1 {
			j = g.sharedOp
		}
		return max(p.left, g.safe) < j
	case reading, draining:
		return m == g.root
	case chaining:
		return m == g.me-1
	case pulling:
		return m == (g.me+g.cursor)%len(g.members)
	case confirming:
		return segment.Load64(g.lines.word(g.lines.result(m, g.op))) != p.base+uint64(g.op)
	case passing:
		l := &g.large
		return m == l.up && (!g.isHere(m) || g.stepsOf(p) <= l.pos) || m == l.down && l.pos >= l.room && (!g.isHere(m) || g.stepsOf(p) <= l.pos-l.room)
	case swapping:
		return !g.isHere(m) || g.stepsOf(p) <= g.large.pos-swapLead
	case taking:
		return false
	case filling:
		return !g.isHere(m) || g.stepsOf(p) < g.large.pos-g.large.room+1
	case meeting:
		return !g.isHere(m) || g.stepsOf(p) < g.large.step+1
	case counting:
		return m == 0 && !g.introduced
	}
	return !g.isHere(m)
}

// stepsOf returns how many steps of this operation p has published, or 0 when
// that is not known yet.
func (g *Group) stepsOf(p *member) int {
	if p.started != g.op {
		return 0
	}
	done, _ := p.stepsDone(math.MaxInt)
	return done
}
