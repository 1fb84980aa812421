package nodecoll

// Operations whose payloads have a block for each member, or are one: here each chooses its
// algorithm. Payloads go whole, up to PayloadBytes each or less. Longer ones are pulled, see
// Config.Pull, where the operation says so.

// Gather starts a collection of all members' src, of one length, one behind the other
// in root's dst. dst is nil elsewhere; src may be its place in dst at root. A payload
// is src; longer ones panic.
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

// Scatter starts a distribution of root's src: the i-th of equal parts is member i's
// dst. src is nil elsewhere; dst may be its place in src at root. A payload is what
// the others get together; parts of a longer one are pulled.
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
	default: // the others' parts do not stand together
		g.enterThen(idle, src)
	}
}

// Allgather starts a collection of all members' src, of one length, one behind the
// other in everybody's dst. src may be its place in dst. A payload is src; a longer one
// is pulled.
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

// Alltoall starts an exchange: the i-th of equal parts of src comes to member i, where
// it is the part of dst with this member's number. A payload is src, or of two members the
// other's part of it; parts of a longer one are pulled. dst may be src up to WholeBytes, and
// must be apart from it above.
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

// ReduceScatter starts a reduction of all members' src, in rank order: the i-th of
// equal parts of the result is member i's dst, which may be its place in src, or the
// beginning of it. A payload is src, or of two members the other's part of it; a longer
// src panics.
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

// wideBytes is up to what size parts are published together though they do not fit a
// slot: in the area, as many payloads one behind the other as there is room for.
const wideBytes = sharedAreaBytes / 2

// isWide says whether a payload goes through the area. Where the last to arrive works for
// all, pulls would wait for two meetings; and this way the root may be ahead.
func (g *Group) isWide() bool {
	return g.verb == scatter && g.central && g.size > longBytes && g.size <= wideBytes
}

// wideAt returns where the payload of the current operation stands in the area.
func (g *Group) wideAt() int { return int(g.op%int64(sharedAreaBytes/g.size)) * g.size }
