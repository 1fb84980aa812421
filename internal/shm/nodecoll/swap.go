package nodecoll

// A swap is an allreduce of two members with a core each, with more data than a whole payload: each
// member copies its src into its ring, chunk by chunk, and combines the chunks of the other with
// its own. In step i a member
//
//	copies chunk i into its ring,
//	combines chunk i-1, if the other has done step i-1,
//
// and counts the step. There is one step more than chunks. A member that has done step i-1 has
// combined chunk i-2, so no place is overwritten too early in a ring of two chunks or more.
//
// dst may be src: a chunk of src is in the ring before its place in dst is written.
type swap struct {
	ring ring
	pos  int // steps done
}

// swapLead is the number of chunks that a member copies before it combines the first.
const swapLead = 1

// swapMax is the size up to which a swap, in which both combine everything, is faster than a
// reduction, in which each combines a half for both (reduction.go).
const swapMax = 64 << 10

func (s *swap) start(g *Group) {
	*s = swap{}
	s.ring.cutElements(g)
	g.enterThen(swapping, nil)
}

func (s *swap) step(g *Group) bool {
	if s.pos == 0 && !g.mayOverwriteArea() {
		return false
	}
	other := 1 - g.me
	for ; s.pos < s.ring.chunks+swapLead; s.pos++ {
		if g.budget <= 0 || s.pos >= swapLead && !s.ring.hasDone(g, other, s.pos-swapLead+1) {
			return false
		}
		if s.pos < s.ring.chunks {
			s.ring.writeChunk(g, s.pos)
		}
		if s.pos >= swapLead {
			s.ring.combineChunk(g, other, -1, s.pos-swapLead)
		}
		g.countStep()
		g.announce(other)
	}
	g.safe, g.area.ringOp = g.op-1, g.op
	g.endOperation()
	return true
}

func (s *swap) waitsFor(g *Group, m int) bool { return g.isBehind(m, s.pos-swapLead+1) }
