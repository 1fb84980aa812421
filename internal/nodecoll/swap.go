package nodecoll

// A reduction of two members with a core each, for both, of more than goes whole: each copies its src into its
// ring, chunk by chunk, and combines the chunks of the other with its own. In step i a member
//
//	copies chunk i into its ring,
//	combines chunk i-1, if the other has done step i-1,
//
// and counts the step. There is one step more than chunks. Who has done step i-1 has
// combined chunk i-2, so no place is taken too early in a ring of two chunks or more.
//
// dst may be src: a chunk of src is in the ring before its place in dst is written.

// swapLead is how many chunks a member copies before it combines the first one.
const swapLead = 1

// swapMax is up to what size that is faster than to have each member reduce a half.
const swapMax = 64 << 10

func (g *Group) swaps() bool { return g.mutual && len(g.members) == 2 && g.size <= swapMax }

func (g *Group) startSwap() {
	unit := lineUnit(g.red.ElemBytes)
	g.large = g.inRing(max(unit, g.ringChunk()/unit*unit))
	g.areaOp = g.op
	g.start(swapping, nil)
}

func (g *Group) swap() bool {
	l, other := &g.large, 1-g.me
	if l.pos == 0 && !g.clear(max(g.ringOp, g.redOp, g.wideOp)) {
		return false
	}
	for ; l.pos < l.chunks+swapLead; l.pos++ {
		if g.budget <= 0 || l.pos >= swapLead && !g.reached(other, l.pos-swapLead+1) {
			return false
		}
		if l.pos < l.chunks {
			off := l.pos * l.chunk
			n := min(l.chunk, g.size-off)
			g.copier.Copy(g.inChunk(g.me, l.pos, 0, n), g.src[off:off+n])
			g.budget -= n
		}
		if l.pos >= swapLead {
			g.combineChunk(other, l.pos-swapLead)
		}
		g.countStep()
		g.announce(other)
	}
	g.safe, g.ringOp = g.op-1, g.op
	g.finish()
	return true
}

// combineChunk combines a chunk of the other member with this one's, in rank order.
func (g *Group) combineChunk(other, pos int) {
	l := &g.large
	off := pos * l.chunk
	for end := min(off+l.chunk, g.size); off < end; {
		n := min(g.block(), end-off)
		theirs := g.inChunk(other, pos, off-pos*l.chunk, n)
		if other < g.me {
			g.join(theirs, nil, off, n)
		} else {
			dst, own := g.dst[off:off+n], g.src[off:off+n]
			if &dst[0] != &own[0] {
				copy(dst, own)
			}
			g.red.Func(dst, theirs)
		}
		off += n
		g.budget -= n
	}
}
