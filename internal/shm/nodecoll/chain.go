package nodecoll

// A chain is a scan with whole payloads: each member waits for the result of the member before,
// combines it with its own operand, and publishes the new result for the next member. A member
// waits for no other member. So if all make one call after the other, they work at different
// operations at the same time, like at an assembly line. The result is in the result line, not in
// the arrival line, which shows the member's call from the beginning. Member 0 waits for nothing
// and publishes its operand with its arrival.
//
// Its only state is the open operation.
type chain struct{}

// step combines the result of the member before with this member's operand.
func (c chain) step(g *Group) bool {
	if g.me > 0 && !g.hasCome(g.me-1, c.lineOf(g, g.me-1)) {
		return false
	}
	last := g.me == len(g.members)-1
	between := g.me > 0 && !last
	for at := 0; at < g.size; {
		n := min(g.red.block(), g.size-at)
		var before, on []byte
		if g.me > 0 {
			before = c.passedBy(g, g.me-1)[at : at+n]
		}
		if between {
			on = c.passedBy(g, g.me)[at : at+n]
		}
		g.combineBlock(before, on, at, n)
		at += n
	}
	if between {
		g.publishResult()
	}
	if last { // all members before have entered this operation
		g.safe = g.op - 1
	} else {
		g.announce(g.me + 1)
	}
	g.endOperation()
	return true
}

func (chain) waitsFor(g *Group, m int) bool { return m == g.me-1 }

// lineOf returns the place of the line with which member m publishes its result for the next.
func (chain) lineOf(g *Group, m int) int {
	if m == 0 {
		return g.lines.arrival(m, g.op)
	}
	return g.lines.result(m, g.op)
}

// passedBy returns the memory of member m's result for the next: in that line if the result fits,
// else in its slot.
func (c chain) passedBy(g *Group, m int) []byte {
	if g.size <= g.lines.inline {
		return g.lines.body(c.lineOf(g, m))[inlineAt : inlineAt+g.size]
	}
	return g.slotOf(m)
}

// combineBlock combines n bytes, at most a block, at off of src with the combined bytes of the
// lower members in before (nil: there are none). The result is stored in dst, and in on for the
// next member (nil: there is none).
func (g *Group) combineBlock(before, on []byte, off, n int) {
	own := g.src[off : off+n]
	result := own
	switch {
	case before == nil && g.verb == exscan: // member 0 has no predecessor
	case before == nil:
		if g.dst != nil {
			copy(g.dst[off:off+n], own)
		}
	case g.verb == exscan:
		if on != nil {
			result = g.memory.scratchBlock()[:n]
			g.red.Func(result, before, own)
			g.copier.Copy(on, result)
			on = nil
		}
		copy(g.dst[off:off+n], before)
	default:
		result = g.dst[off : off+n]
		g.red.Func(result, before, own)
	}
	if on != nil {
		g.copier.Copy(on, result)
	}
}
