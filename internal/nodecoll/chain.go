package nodecoll

// In a chain each member waits for what the one before passes on, combines it with its
// own and passes that on. Nobody waits for anybody else, so where all make one call
// after the other they work at different operations at the same time, like at an
// assembly line. What is passed on stands in a line of its own, not in that of the
// arrival, which says from the beginning which call this member has come to. The first
// member has nothing to wait for: what it passes on goes with its arrival.

// Scan starts a reduction of the src of members 0 to this one, in rank order, into
// dst. dst may be src. All have the same length, a multiple of r.ElemBytes.
func (g *Group) Scan(what uint64, dst, src []byte, r Reduce) {
	wantLength("scan", len(dst), len(src))
	if g.quickScan(what, dst, src, r) {
		return
	}
	g.beginReduce(scan, what, dst, src, r)
	g.startScan()
}

// Exscan is Scan without this member's own src. The dst of member 0 stays as it is.
func (g *Group) Exscan(what uint64, dst, src []byte, r Reduce) {
	wantLength("exscan", len(dst), len(src))
	g.beginReduce(exscan, what, dst, src, r)
	g.startScan()
}

func (g *Group) startScan() {
	switch {
	case len(g.members) == 1 && g.verb == exscan:
		g.finish()
	case len(g.members) == 1:
		g.alone(g.src)
	case g.size > g.scanDirect:
		g.startPass(g.me-1, (g.me+2)%(len(g.members)+1)-1)
	case g.me == 0:
		g.start(chaining, g.src)
	default:
		g.lines.results.Reach(g.lines.result(g.me, g.op))
		g.start(chaining, nil)
	}
}

// chain combines what the member before passes on with this one's.
func (g *Group) chain() bool {
	if g.me > 0 && !g.stands(g.me-1, g.passedAt(g.me-1)) {
		return false
	}
	last := g.me == len(g.members)-1
	between := g.me > 0 && !last
	for at := 0; at < g.size; {
		n := min(g.block(), g.size-at)
		var before, on []byte
		if g.me > 0 {
			before = g.passed(g.me - 1)[at : at+n]
		}
		if between {
			on = g.passed(g.me)[at : at+n]
		}
		g.join(before, on, at, n)
		at += n
	}
	if between {
		g.passOn()
	}
	if last { // the one before has entered this operation, and so has each before that
		g.safe = g.op - 1
	} else {
		g.announce(g.me + 1)
	}
	g.finish()
	return true
}

// passedAt returns where the line stands that says that member m has passed on what it has.
func (g *Group) passedAt(m int) int {
	if m == 0 {
		return g.lines.arrival(m, g.op)
	}
	return g.lines.result(m, g.op)
}

// passed returns where member m passes on what it has: in that line if it fits, else in
// its slot.
func (g *Group) passed(m int) []byte {
	if g.size <= g.inline {
		return g.lines.body(g.passedAt(m))[inlineAt : inlineAt+g.size]
	}
	return g.slotOf(m)
}

// block returns how many bytes are combined at once: whole elements.
func (g *Group) block() int { return blockBytes / g.red.ElemBytes * g.red.ElemBytes }

// join combines n bytes, at most a block, at off of src with the same of what came
// before, which begins at before (nil: nothing), and puts them where they are wanted:
// into dst, and to on, which is what is passed on (nil: nobody wants it).
func (g *Group) join(before, on []byte, off, n int) {
	own := g.src[off : off+n]
	result := own
	switch {
	case before == nil && g.verb == exscan: // nothing comes before member 0
	case before == nil:
		if g.dst != nil {
			copy(g.dst[off:off+n], own)
		}
	case g.verb == exscan:
		if on != nil {
			result = g.scratch()[:n]
			g.red.Func(result, before, own)
			g.copier.Copy(on, result)
			on = nil
		}
		copy(g.dst[off:off+n], before)
	case g.verb != scan && g.large.up > g.me: // a pair's: what comes before is of higher rank
		result = g.dst[off : off+n]
		g.red.Func(result, own, before)
	default:
		result = g.dst[off : off+n]
		g.red.Func(result, before, own)
	}
	if on != nil {
		g.copier.Copy(on, result)
	}
}

// startPass starts a large operation in which chunks go from member up (-1: there is
// none) to this one and on to member down. Each counts the chunks that it is done with:
// down may take them then, and up use their place again.
func (g *Group) startPass(up, down int) { g.startRings(passing, up, down) }

// startRings starts a large reduction or scan that takes chunks from the ring of member up.
func (g *Group) startRings(p phase, up, down int) {
	unit := lineUnit(g.red.ElemBytes)
	g.large = g.inRing(max(unit, g.ringChunk()/unit*unit))
	g.large.up, g.large.down = up, down
	g.areaOp = g.op
	g.start(p, nil)
}

// startPair starts a large reduction of two members: the one passes on what the root
// combines with its own.
func (g *Group) startPair() {
	if g.root == g.me {
		g.startPass(1-g.me, -1)
	} else {
		g.startPass(-1, g.root)
	}
}

func (g *Group) pass() bool {
	l := &g.large
	if l.down >= 0 && !g.clearArea() {
		return false
	}
	for ; l.pos < l.chunks; l.pos++ {
		if l.up >= 0 && !g.reached(l.up, l.pos+1) || l.down >= 0 && l.pos >= l.room && !g.reached(l.down, l.pos+1-l.room) || g.budget <= 0 {
			return false
		}
		g.passChunk()
	}
	if l.down >= 0 {
		g.ringOp = g.op
	}
	g.finish()
	return true
}

// reached says whether member m is done with that many chunks.
func (g *Group) reached(m, chunks int) bool {
	if !g.begun(m) {
		return false
	}
	p := &g.members[m]
	done, v := p.stepsDone(g.large.chunks)
	return done >= chunks || g.wait(p.steps, v)
}

func (g *Group) passChunk() {
	l := &g.large
	g.joinChunk(l.pos)
	g.countStep()
	for _, m := range [2]int{l.up, l.down} {
		if m >= 0 {
			g.announce(m)
		}
	}
}

// joinChunk combines a chunk of member up with this one's, for dst and for member down.
func (g *Group) joinChunk(pos int) {
	l := &g.large
	off := pos * l.chunk
	bytes := min(l.chunk, g.size-off)
	for done := 0; done < bytes; {
		n := min(g.block(), bytes-done)
		var before, on []byte
		if l.up >= 0 {
			before = g.inChunk(l.up, pos, done, n)
		}
		if l.down >= 0 {
			on = g.inChunk(g.me, pos, done, n)
		}
		g.join(before, on, off+done, n)
		done += n
	}
	g.budget -= bytes
}
