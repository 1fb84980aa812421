package nodecoll

// A broadcast is a large Bcast: root copies chunk after chunk into its ring and counts the chunks
// in its steps word; readers copy them out. A reader counts only the chunks for which root may
// wait: the chunks whose place another chunk will use.
type broadcast struct {
	ring ring
	pos  int // chunks filled, or drained
	free int // root: chunks that all readers have drained
}

func (b *broadcast) start(g *Group) {
	g.src = g.dst
	*b = broadcast{}
	b.ring.cut(g, g.ringChunk(g.size))
	g.area.anyOp = g.op
	g.enterThen(streaming, nil)
}

func (b *broadcast) step(g *Group) bool {
	if g.root == g.me {
		return b.fillRing(g)
	}
	return b.drainRing(g)
}

func (b *broadcast) waitsFor(g *Group, m int) bool {
	if g.root != g.me {
		return m == g.root
	}
	return g.isBehind(m, b.pos-b.ring.room+1)
}

// fillRing is root's side.
func (b *broadcast) fillRing(g *Group) bool {
	if !g.mayOverwriteArea() {
		return false
	}
	for ; b.pos < b.ring.chunks; b.pos++ {
		if b.pos >= b.ring.room && !b.haveDrained(g, b.pos-b.ring.room+1) {
			return false
		}
		if g.budget <= 0 {
			return false
		}
		b.ring.writeChunk(g, b.pos)
		g.countStep()
		g.announce(All)
	}
	g.area.ringOp = g.op
	g.endOperation()
	return true
}

// haveDrained reports whether all readers have drained the given number of chunks.
func (b *broadcast) haveDrained(g *Group, want int) bool {
	if want <= b.free {
		return true
	}
	least := b.ring.chunks
	for m := range g.members {
		if m == g.me {
			continue
		}
		if !g.hasBegun(m) {
			return false
		}
		p := &g.members[m]
		done, v := p.stepsDone(b.ring.chunks)
		if done < want {
			return g.waitOn(p.steps, v)
		}
		least = min(least, done)
	}
	b.free = least
	return true
}

// drainRing is a reader's side.
func (b *broadcast) drainRing(g *Group) bool {
	if !g.hasBegun(g.root) {
		return false
	}
	p := &g.members[g.root]
	for b.pos < b.ring.chunks {
		filled, v := p.stepsDone(b.ring.chunks)
		if filled <= b.pos {
			return g.waitOn(p.steps, v)
		}
		for ; b.pos < filled; b.pos++ {
			if g.budget <= 0 {
				return false
			}
			b.takeChunk(g)
		}
	}
	g.endOperation()
	return true
}

func (b *broadcast) takeChunk(g *Group) {
	off, n := b.ring.bounds(b.pos, g.size)
	copy(g.dst[off:off+n], b.ring.inChunk(g, g.root, b.pos, 0, n))
	g.budget -= n
	if b.pos+b.ring.room < b.ring.chunks {
		g.countStep()
		g.announce(g.root)
	}
}
