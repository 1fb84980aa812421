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
			if g.isHere(m) && !g.agrees(m, g.lines.arrival(m, g.op)) {
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
		if m == g.me || !g.isHere(m) {
			continue // before it is here its line has the call of an earlier operation
		}
		if what := g.lines.what(g.lines.arrival(m, g.op)); what != g.what {
			return m, what, true
		}
	}
	return 0, 0, false
}

// isHere says whether member m's line of this operation is there. It stays
// there until this rank leaves the operation.
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
