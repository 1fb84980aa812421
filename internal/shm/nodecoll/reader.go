package nodecoll

// A reader waits for the root's arrival line alone, and takes the payload of a broadcast, or its
// part of a scatter, from the line or the root's slot.
//
// Its only state is the open operation.
type reader struct{}

func (reader) step(g *Group) bool {
	if !g.hasArrived(g.root) {
		return false
	}
	g.members[g.root].left = g.op - 1
	switch {
	case g.size == 0:
	case g.verb == scatter:
		copy(g.dst, g.payload(g.root)[g.partAt(g.me):])
	default:
		copy(g.dst, g.payload(g.root))
	}
	g.endOperation()
	return true
}

func (reader) waitsFor(g *Group, m int) bool { return m == g.root }
