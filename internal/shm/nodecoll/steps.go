package nodecoll

import (
	"encoding/binary"
	"math"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Each member has a steps word, which it alone writes: it counts the steps of all operations
// that go by steps, for ever. How many steps of the open operation member m has done is the
// difference to the count that stands in m's arrival line.

// A member is what this rank knows of one member.
type member struct {
	base  uint64  // its sequence words are base + operation number
	steps *uint64 // its steps word

	left    int64  // it has left this operation and all before it: a lower bound
	started int64  // the operation whose arrival line gave start
	start   uint64 // *steps when it entered operation started
}

// countStep publishes one more step of this member.
func (g *Group) countStep() {
	g.steps++
	segment.Publish64(g.members[g.me].steps, g.steps)
}

// hasBegun says whether member m has entered the operation, and notes where its steps
// word stood then.
func (g *Group) hasBegun(m int) bool {
	p := &g.members[m]
	if p.started == g.op {
		return true
	}
	if !g.hasArrived(m) {
		return false
	}
	p.started, p.left = g.op, g.op-1
	p.start = binary.LittleEndian.Uint64(g.lines.body(g.lines.arrival(m, g.op))[inlineAt:])
	return true
}

// stepsDone returns how many of the at most most steps of the operation m has
// published, and its steps word. m may have left the operation and counted on in
// later ones.
func (m *member) stepsDone(most int) (done int, word uint64) {
	word = segment.Load64(m.steps)
	since := word - m.start
	if int64(since) < 0 {
		return 0, word
	}
	return int(min(since, uint64(most))), word
}

// isBehind says, for messages to people, whether member m has not yet published so many
// steps of this operation.
func (g *Group) isBehind(m, steps int) bool {
	if !g.isHere(m) {
		return true
	}
	done := 0
	if p := &g.members[m]; p.started == g.op { // else that is not known yet
		done, _ = p.stepsDone(math.MaxInt)
	}
	return done < steps
}
