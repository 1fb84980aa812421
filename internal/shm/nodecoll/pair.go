package nodecoll

// pair is the algorithm of two members with a core each that wait for each other, with a short
// payload. A member only has to check whether the other's line is there. Each try method reports
// whether it has entered the operation. If not, nothing has happened, and the caller must use the
// normal path.
//
// Its only state is the open operation.
type pair struct{}

// tryEnter enters an operation with this member's payload for the other.
//
// tryEnter does not poll the other's line at once. The other member usually enters at the same
// time, and polling too early steals the cache line from its writer (park.Patience).
func (pair) tryEnter(g *Group, v verb, what uint64, dst, src, out []byte) bool {
	if len(g.members) != 2 || g.central || len(out) > ringDirectMutual || !g.quick.isFree(g, metSlots) {
		return false
	}
	m := 1 - g.me
	g.quick.enter(g, v, facing, what, out, len(out))
	g.announce(m)
	g.announcedOp = g.op
	g.dst, g.src, g.root, g.phase = dst, src, nobody, facing
	g.waitOn(g.lines.word(g.lines.arrival(m, g.op)), g.members[m].base+uint64(g.op)-slots)
	return true
}

// step completes the operation that tryEnter has entered, when the other's line is there.
func (pair) step(g *Group) bool {
	m := 1 - g.me
	at := g.lines.arrival(m, g.op)
	if !g.hasCome(m, at) {
		return false
	}
	g.safe = g.op - 1
	payload := g.payload(m)
	switch g.verb {
	case allreduce:
		g.red.combineTwo(g.dst, g.src, payload, m)
	case reduceScatter:
		g.red.combineTwo(g.dst, g.src[g.me*g.size:][:g.size], payload, m)
	case allgather, alltoall:
		copy(g.dst[m*g.size:], payload)
	}
	g.phase, g.waiting, g.dst, g.src = idle, nil, nil, nil
	return true
}

func (pair) waitsFor(g *Group, m int) bool { return !g.isHere(m) }

func (p pair) tryAllreduce(g *Group, what uint64, dst, src []byte, r Reduce) bool {
	if !r.fits(len(src)) || !p.tryEnter(g, allreduce, what, dst, src, src) {
		return false
	}
	g.red = r
	return true
}

func (p pair) tryAllgather(g *Group, what uint64, dst, src []byte) bool {
	if !p.tryEnter(g, allgather, what, dst, src, src) {
		return false
	}
	copy(dst[g.me*len(src):], src)
	return true
}

func (p pair) tryAlltoall(g *Group, what uint64, dst, src []byte) bool {
	m, ok := otherOfTwo(g, 0)
	if !ok {
		return false
	}
	part := len(src) / 2
	if !p.tryEnter(g, alltoall, what, dst, src, src[m*part:][:part]) {
		return false
	}
	copy(dst[g.me*part:], src[g.me*part:][:part])
	return true
}

func (p pair) tryReduceScatter(g *Group, what uint64, dst, src []byte, r Reduce) bool {
	m, ok := otherOfTwo(g, 0)
	if !ok || !r.fits(len(src)) || !p.tryEnter(g, reduceScatter, what, dst, src, src[m*len(dst):][:len(dst)]) {
		return false
	}
	g.red = r
	return true
}
