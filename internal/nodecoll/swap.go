package nodecoll

// A reduction of two members with a core each, for both, of more than goes whole: each
// copies its src into its ring, chunk by chunk, and combines the chunks of the other with
// its own. In step i a member
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

// swapMax is up to what size it is faster that both combine all of it than that each
// combines a half for both (reduction.go).
const swapMax = 64 << 10

func (g *Group) swaps() bool { return g.mutual && len(g.members) == 2 && g.size <= swapMax }

func (g *Group) startSwap() { g.startRings(swapping, 1-g.me, -1) }

func (g *Group) swap() bool {
	l := &g.large
	if l.pos == 0 && !g.clearArea() {
		return false
	}
	for ; l.pos < l.chunks+swapLead; l.pos++ {
		if g.budget <= 0 || l.pos >= swapLead && !g.reached(l.up, l.pos-swapLead+1) {
			return false
		}
		if l.pos < l.chunks {
			off := l.pos * l.chunk
			n := min(l.chunk, g.size-off)
			g.copier.Copy(g.inChunk(g.me, l.pos, 0, n), g.src[off:off+n])
			g.budget -= n
		}
		if l.pos >= swapLead {
			g.joinChunk(l.pos - swapLead)
		}
		g.countStep()
		g.announce(l.up)
	}
	g.safe, g.ringOp = g.op-1, g.op
	g.finish()
	return true
}
