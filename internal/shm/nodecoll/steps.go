package nodecoll

import (
	"encoding/binary"
	"math"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Each member has a steps word, which only this member writes. The word counts the steps of all
// operations by steps, for ever. The number of steps of the open operation that member m has done
// is the difference to the count in m's arrival line.

// A member is the state that this rank keeps of one member.
type member struct {
	base  uint64  // its sequence words are base + operation number
	steps *uint64 // its steps word

	left    int64  // the member has left this operation and all before: a lower bound
	started int64  // the operation whose arrival line gave start
	start   uint64 // *steps at the member's entry into operation started
}

// countStep publishes one more step of this member.
func (g *Group) countStep() {
	g.steps++
	segment.Publish64(g.members[g.me].steps, g.steps)
}

// hasBegun reports whether member m has entered the operation, and notes the value of its steps
// word at the entry.
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

// stepsDone returns the number of steps of the operation that m has published, at most most, and
// the steps word of m. m may have left the operation and counted steps of later operations.
func (m *member) stepsDone(most int) (done int, word uint64) {
	word = segment.Load64(m.steps)
	since := word - m.start
	if int64(since) < 0 {
		return 0, word
	}
	return int(min(since, uint64(most))), word
}

// isBehind reports, for diagnostic messages, whether member m has published fewer than the given
// number of steps of this operation.
func (g *Group) isBehind(m, steps int) bool {
	if !g.isHere(m) {
		return true
	}
	done := 0
	if p := &g.members[m]; p.started == g.op { // else the number is not known yet
		done, _ = p.stepsDone(math.MaxInt)
	}
	return done < steps
}
