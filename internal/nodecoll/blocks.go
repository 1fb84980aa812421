package nodecoll

// Operations whose payloads have a block for each member, or are one. Payloads go whole,
// up to PayloadBytes each or less. Longer ones are pulled, see Config.Pull, where the
// operation says so.

// Gather starts a collection of all members' src, of one length, one behind the other
// in root's dst. dst is nil elsewhere; src may be its place in dst at root. A payload
// is src; longer ones panic.
func (g *Group) Gather(what uint64, root int, dst, src []byte) {
	if g.quickGather(what, root, dst, src) {
		return
	}
	if g.me != root {
		dst = nil
	} else {
		wantLength("gather", len(dst), len(src)*len(g.members))
	}
	wantWhole(len(src))
	g.begin(gather, what, dst, src, len(src))
	g.setRoot(root)
	switch {
	case len(g.members) == 1:
		g.alone(src)
	case root == g.me:
		copy(dst[g.me*g.size:], src)
		g.start(seeing, nil)
	default:
		g.start(idle, src)
	}
}

// Scatter starts a distribution of root's src: the i-th of equal parts is member i's
// dst. src is nil elsewhere; dst may be its place in src at root. A payload is what
// the others get together; parts of a longer one are pulled.
func (g *Group) Scatter(what uint64, root int, dst, src []byte) {
	if g.quickScatter(what, root, dst, src) {
		return
	}
	if g.me != root {
		src = nil
	} else {
		wantLength("scatter", len(src), len(dst)*len(g.members))
	}
	g.begin(scatter, what, dst, src, len(dst)*(len(g.members)-1))
	g.setRoot(root)
	g.part = len(dst)
	if g.wide() {
		g.areaOp = g.op
	}
	switch {
	case len(g.members) == 1:
		g.alone(src)
	case g.size > g.whole && !g.wide():
		g.startPull(g.me*g.part, g.part)
	case root != g.me:
		g.start(reading, nil)
	case root == 0:
		g.start(idle, src[g.part:])
	case root == len(g.members)-1:
		g.start(idle, src[:g.size])
	default: // the others' parts do not stand together
		g.start(idle, src)
	}
}

// partAt returns where the part of this member stands in root's payload of a scatter.
func (g *Group) partAt() int {
	if g.me > g.root {
		return (g.me - 1) * g.part
	}
	return g.me * g.part
}

// wideBytes is up to what size parts are published together though they do not fit a
// slot: in the area, as many payloads one behind the other as there is room for.
const wideBytes = sharedAreaBytes / 2

// wide says whether a payload goes through the area. Where the last to arrive works for
// all, pulls would wait for two meetings; and this way the root may be ahead.
func (g *Group) wide() bool {
	return g.verb == scatter && g.central && g.size > longBytes && g.size <= wideBytes
}

// wideAt returns where the payload of the current operation stands in the area.
func (g *Group) wideAt() int { return int(g.op%int64(sharedAreaBytes/g.size)) * g.size }

// Allgather starts a collection of all members' src, of one length, one behind the
// other in everybody's dst. src may be its place in dst. A payload is src; a longer one
// is pulled.
func (g *Group) Allgather(what uint64, dst, src []byte) {
	wantLength("allgather", len(dst), len(src)*len(g.members))
	if g.quickAllgather(what, dst, src) {
		return
	}
	g.begin(allgather, what, dst, src, len(src))
	if len(g.members) > 1 && g.size > g.whole {
		g.startPull(0, g.size)
		return
	}
	copy(dst[g.me*g.size:], src)
	g.startAll(src)
}

// Alltoall starts an exchange: the i-th of equal parts of src comes to member i, where
// it is the part of dst with this member's number. A payload is src, or of two members the
// other's part of it; parts of a longer one are pulled. dst may be src up to WholeBytes, and
// must be apart from it above.
func (g *Group) Alltoall(what uint64, dst, src []byte) {
	wantLength("alltoall", len(dst), len(src))
	if g.quickAlltoall(what, dst, src) {
		return
	}
	g.begin(alltoall, what, dst, src, len(src))
	g.part = len(src) / len(g.members)
	if len(g.members) > 1 && g.size > g.whole {
		g.startPull(g.me*g.part, g.part)
		return
	}
	g.startAll(g.forOthers(src))
	copy(dst[g.me*g.part:][:g.part], src[g.me*g.part:])
}

// forOthers returns the payload of an operation in which src has a part for each member: of
// two it is the other's part.
func (g *Group) forOthers(src []byte) []byte {
	if len(g.members) == 2 {
		src = src[(1-g.me)*g.part:][:g.part]
	}
	g.size = len(src)
	return src
}

// partFrom returns the part for this member of m's payload.
func (g *Group) partFrom(m int) []byte {
	payload := g.payload(m)
	if len(g.members) == 2 {
		return payload
	}
	return payload[g.me*g.part:][:g.part]
}

// ReduceScatter starts a reduction of all members' src, in rank order: the i-th of
// equal parts of the result is member i's dst, which may be its place in src, or the
// beginning of it. A payload is src, or of two members the other's part of it; a longer
// src panics.
func (g *Group) ReduceScatter(what uint64, dst, src []byte, r Reduce) {
	wantLength("reduce_scatter", len(dst)*len(g.members), len(src))
	wantWhole(len(src))
	if g.quickReduceScatter(what, dst, src, r) {
		return
	}
	g.beginReduce(reduceScatter, what, dst, src, r)
	g.part = len(dst)
	g.startAll(g.forOthers(src))
}

func wantWhole(size int) {
	if size > longBytes { // else the numbers become values of an interface each time
		that(false, "a payload of %d bytes: at most %d go whole", size, longBytes)
	}
}

// takes says whether each member takes what it needs out of all payloads.
func (g *Group) takes() bool {
	return g.verb == gather || g.verb == allgather || g.verb == alltoall || g.verb == reduceScatter
}

// takeAll takes from one member after the other.
func (g *Group) takeAll() bool {
	for ; g.cursor < len(g.members) && g.size > 0; g.cursor++ {
		if g.budget <= 0 {
			return false
		}
		if g.cursor != g.me || g.verb == reduceScatter { // else it is there already
			g.budget -= g.take(g.cursor)
		}
	}
	g.finish()
	return true
}

// take takes what this member needs of m's payload, and returns how many bytes.
func (g *Group) take(m int) int {
	switch g.verb {
	case alltoall:
		return copy(g.dst[m*g.part:], g.partFrom(m))
	case reduceScatter:
		switch m {
		case 0: // with the next
			return 0
		case 1:
			g.red.Func(g.dst, g.partOf(0), g.partOf(1))
		default:
			g.red.Func(g.dst, g.dst, g.partOf(m))
		}
		return g.part
	}
	return copy(g.dst[m*g.size:], g.payload(m))
}

// partOf returns member m's operand of this one's part. Its own it has itself, unless those
// of lower members overwrite it: what it has published is in others' caches.
func (g *Group) partOf(m int) []byte {
	if own := g.src[g.me*g.part:][:g.part]; m == g.me && (m <= 1 || &g.dst[0] != &own[0]) {
		return own
	}
	return g.partFrom(m)
}
