package nodecoll

// A chain is a scan whose payloads go whole: each member waits for what the member before
// passes on, combines it with its own and passes that on. Nobody waits for anybody else, so
// where all make one call after the other they work at different operations at the same time,
// like at an assembly line. What a member passes on stands in its result line, not in that of
// the arrival, which says from the beginning which call this member has come to. Member 0 has
// nothing to wait for: what it passes on goes with its arrival.
//
// It has no state but the open operation.
type chain struct{}

// step combines what the member before passes on with this one's.
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
	if last { // the member before has entered this operation, and so has each before that
		g.safe = g.op - 1
	} else {
		g.announce(g.me + 1)
	}
	g.endOperation()
	return true
}

func (chain) waitsFor(g *Group, m int) bool { return m == g.me-1 }

// lineOf returns where the line stands that says that member m has passed on what it has.
func (chain) lineOf(g *Group, m int) int {
	if m == 0 {
		return g.lines.arrival(m, g.op)
	}
	return g.lines.result(m, g.op)
}

// passedBy returns where member m passes on what it has: in that line if it fits, else in
// its slot.
func (c chain) passedBy(g *Group, m int) []byte {
	if g.size <= g.lines.inline {
		return g.lines.body(c.lineOf(g, m))[inlineAt : inlineAt+g.size]
	}
	return g.slotOf(m)
}

// combineBlock combines n bytes, at most a block, at off of src with the same of what lower
// members have combined, which begins at before (nil: nothing), and puts them where they are
// wanted: into dst, and to on, which is what is passed on (nil: nobody wants it).
func (g *Group) combineBlock(before, on []byte, off, n int) {
	own := g.src[off : off+n]
	result := own
	switch {
	case before == nil && g.verb == exscan: // nothing comes before member 0
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
