package nodecoll

// Operations whose payloads have a block for each member, or are one block. Each chooses its
// algorithm here. Payloads are published whole, up to PayloadBytes each or less. Longer payloads
// are pulled, see Config.Pull, if the comment of the operation says so.

// Gather starts a collection of all members' src, of one length, one behind the other in root's
// dst. dst is nil elsewhere; src may be its place in dst at root. A payload is src. A payload
// longer than PayloadBytes panics.
func (g *Group) Gather(what uint64, root int, dst, src []byte) {
	if g.quick.tryGather(g, what, root, dst, src) {
		return
	}
	if g.me != root {
		dst = nil
	} else {
		wantLength("gather", len(dst), len(src)*len(g.members))
	}
	wantWhole(len(src))
	g.beginOperation(gather, what, dst, src, len(src))
	g.setRoot(root, len(g.members))
	switch {
	case len(g.members) == 1:
		g.completeAlone(src)
	case root == g.me:
		copy(dst[g.me*g.size:], src)
		g.collector.start(g, nil)
	default:
		g.enterThen(idle, src)
	}
}

// Scatter starts a distribution of root's src: the i-th of equal parts is member i's dst. src is
// nil elsewhere; dst may be its place in src at root. A payload is the parts of the others
// together; parts of a longer payload are pulled.
func (g *Group) Scatter(what uint64, root int, dst, src []byte) {
	if g.quick.tryScatter(g, what, root, dst, src) {
		return
	}
	if g.me != root {
		src = nil
	} else {
		wantLength("scatter", len(src), len(dst)*len(g.members))
	}
	g.beginOperation(scatter, what, dst, src, len(dst)*(len(g.members)-1))
	g.setRoot(root, len(g.members))
	g.part = len(dst)
	if g.isWide() {
		g.area.anyOp = g.op
	}
	switch {
	case len(g.members) == 1:
		g.completeAlone(src)
	case g.size > g.blocksWhole && !g.isWide():
		g.pull.start(g, g.me*g.part, g.part)
	case root != g.me:
		g.enterThen(reading, nil)
	case root == 0:
		g.enterThen(idle, src[g.part:])
	case root == len(g.members)-1:
		g.enterThen(idle, src[:g.size])
	default: // the others' parts are not contiguous
		g.enterThen(idle, src)
	}
}

// Allgather starts a collection of all members' src, of one length, one behind the other in the dst
// of each member. src may be its place in dst. A payload is src; a longer payload is pulled.
func (g *Group) Allgather(what uint64, dst, src []byte) {
	wantLength("allgather", len(dst), len(src)*len(g.members))
	if g.pair.tryAllgather(g, what, dst, src) {
		return
	}
	g.beginOperation(allgather, what, dst, src, len(src))
	if len(g.members) > 1 && g.size > g.blocksWhole {
		g.pull.start(g, 0, g.size)
		return
	}
	copy(dst[g.me*g.size:], src)
	g.startWhole(src)
}

// Alltoall starts an exchange: member i receives the i-th of equal parts of src, as the part of its
// dst with this member's number. A payload is src, or with two members the other's part of src;
// parts of a longer payload are pulled. dst may be src up to WholeBytes, and must be apart from it
// above.
func (g *Group) Alltoall(what uint64, dst, src []byte) {
	wantLength("alltoall", len(dst), len(src))
	if g.pair.tryAlltoall(g, what, dst, src) {
		return
	}
	g.beginOperation(alltoall, what, dst, src, len(src))
	g.part = len(src) / len(g.members)
	if len(g.members) > 1 && g.size > g.blocksWhole {
		g.pull.start(g, g.me*g.part, g.part)
		return
	}
	g.startWhole(g.cutPayload(src, g.me, len(g.members)))
	copy(dst[g.me*g.part:][:g.part], src[g.me*g.part:])
}

// ReduceScatter starts a reduction of all members' src, in rank order: the i-th of equal parts of
// the result is member i's dst, which may be its place in src, or the beginning of it. A payload is
// src, or with two members the other's part of src; a src longer than PayloadBytes panics.
func (g *Group) ReduceScatter(what uint64, dst, src []byte, r Reduce) {
	wantLength("reduce_scatter", len(dst)*len(g.members), len(src))
	wantWhole(len(src))
	if g.pair.tryReduceScatter(g, what, dst, src, r) {
		return
	}
	g.beginReduction(reduceScatter, what, dst, src, r)
	g.part = len(dst)
	g.startWhole(g.cutPayload(src, g.me, len(g.members)))
}

// wideBytes is the largest size of parts that are published together although they do not fit a
// slot: in the area, with as many payloads one behind the other as there is room for.
const wideBytes = sharedAreaBytes / 2

// isWide reports whether a payload is stored in the area. In a central group a pull would wait for
// two meetings, and with the area the root may run ahead.
func (g *Group) isWide() bool {
	return g.verb == scatter && g.central && g.size > longBytes && g.size <= wideBytes
}

// wideAt returns the place of the current operation's payload in the area.
func (g *Group) wideAt() int { return int(g.op%int64(sharedAreaBytes/g.size)) * g.size }
