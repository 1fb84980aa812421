package nodecoll

import "github.com/goulfm/goulfm/internal/segment"

// clear says whether all members have left operation j, j < g.op; if not, the
// operation waits. Entering an operation proves having left the one before, so
// the arrival lines are all the evidence there is, and nobody stores anything
// just to say that it has left:
//
//	op            k-8  k-7  ...  k
//	me            bcast ... bcast  wants slot k mod 8 = slot (k-8) mod 8
//	member m      still reads my line of k-8: no arrival line of it is above k-8
//
// Whoever completes an operation in which all wait for all has seen every
// arrival and need not look at lines at all.
func (g *Group) clear(j int64) bool {
	if j <= g.safe {
		return true
	}
	low := g.op - 1
	for i := range g.members {
		m := &g.members[i]
		if i == g.me {
			continue
		}
		if m.left < j && !g.hasLeft(m, j) {
			return false
		}
		low = min(low, m.left)
	}
	g.safe = low
	return true
}

// hasLeft looks for the newest arrival line of m that proves that it has left
// operation j. What an earlier group left in a line is below base.
func (g *Group) hasLeft(m *member, j int64) bool {
	var v uint64
	for i := g.op; i > j; i-- {
		v = segment.Load64(m.cells[i%slots].seq)
		if entered := int64(v - m.base); entered >= i && entered < g.op+slots {
			m.left = entered - 1
			return true
		}
	}
	return g.wait(m.cells[(j+1)%slots].seq, v)
}
