package nodecoll

// A collector waits for the arrival lines of all members and combines their payloads itself, in
// rank order: each member in an operation in which all wait for all, so that all get the same bits;
// root of a reduction or a gather; and in a central operation the last member to arrive, for all
// (centre). A taker handles payloads of blocks.
type collector struct {
	cursor int // members 0 to cursor-1 have arrived
}

func (c *collector) start(g *Group, out []byte) {
	c.cursor = 0
	g.enterThen(collecting, out)
}

func (c *collector) step(g *Group) bool {
	if !c.seeAll(g) {
		return false
	}
	switch {
	case g.verb.takesBlocks():
		g.taker.start(g)
		return true
	case g.dst != nil && g.size > 0:
		c.combine(g)
	}
	g.endOperation()
	return true
}

func (c *collector) waitsFor(g *Group, m int) bool { return !g.isHere(m) }

// seeAll reports whether all arrival lines are there. A member that has arrived may only read
// memory of this operation: all have left the operation before.
func (c *collector) seeAll(g *Group) bool {
	for ; c.cursor < len(g.members); c.cursor++ {
		at := g.lines.arrival(c.cursor, g.op) // hasArrived would be an additional call for each member
		if c.cursor != g.me && !g.hasCome(c.cursor, at) {
			return false
		}
	}
	g.safe = g.op - 1
	return true
}

// combine reduces all payloads, at least two, into dst, in rank order.
func (c *collector) combine(g *Group) {
	own := c.ownOperand(g)
	var acc []byte
	for m := range g.members {
		in := own
		if m != g.me {
			in = g.payload(m)
		}
		if m > 0 {
			g.red.Func(g.dst, acc, in)
			in = g.dst
		}
		acc = in
	}
}

// ownOperand returns this member's operand from a place that the result does not overwrite. The
// published payload is the last choice, because it is in the caches of other members.
func (c *collector) ownOperand(g *Group) []byte {
	switch {
	case !g.overwritesOwn(g.me):
		return g.src
	case g.keepsOwn(g.me):
		return append(g.memory.scratchBlock()[:0], g.src...)
	}
	return g.payload(g.me)
}
