package nodecoll

// A collector waits for the arrival lines of all members and combines their payloads itself,
// in rank order: each member in an operation in which all wait for all, so that all get the
// same bits; root of a reduction or a gather; and in a central operation the last member to
// arrive, for all (centre). Payloads of blocks it leaves to a taker.
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

// seeAll says whether all arrival lines are there. What a member that has arrived may still
// read is of this operation: all have left the one before.
func (c *collector) seeAll(g *Group) bool {
	for ; c.cursor < len(g.members); c.cursor++ {
		at := g.lines.arrival(c.cursor, g.op) // hasArrived is one call more, for each member
		if c.cursor != g.me && !g.hasCome(c.cursor, at) {
			return false
		}
	}
	g.safe = g.op - 1
	return true
}

// combine reduces all payloads into dst, in rank order. There are two at least.
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

// ownOperand returns this member's operand where the result does not overwrite it. What it
// has published is the last choice: it is in others' caches.
func (c *collector) ownOperand(g *Group) []byte {
	switch {
	case !g.overwritesOwn(g.me):
		return g.src
	case g.keepsOwn(g.me):
		return append(g.memory.scratchBlock()[:0], g.src...)
	}
	return g.payload(g.me)
}
