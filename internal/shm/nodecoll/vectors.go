package nodecoll

// Operations whose operands all have one length. Each chooses its algorithm here. The shortcuts
// come first (quick.go, pair.go); if a shortcut is not possible, nothing has happened.

// Barrier starts an operation that completes when all members have started it.
func (g *Group) Barrier(what uint64) {
	if g.pair.tryEnter(g, barrier, what, nil, nil, nil) {
		return
	}
	g.beginOperation(barrier, what, nil, nil, 0)
	g.startWhole(nil)
}

// Bcast starts a broadcast of buf from root into the others' buf. All have the
// same length.
func (g *Group) Bcast(what uint64, root int, buf []byte) {
	if g.quick.tryBcast(g, what, root, buf) {
		return
	}
	g.beginOperation(bcast, what, buf, buf, len(buf))
	g.setRoot(root, len(g.members))
	switch {
	case len(g.members) == 1:
		g.endOperation()
	case g.size > g.bcastWhole:
		g.broadcast.start(g)
	case root == g.me:
		g.enterThen(idle, buf)
	default:
		g.enterThen(reading, nil)
	}
}

// Reduce starts a reduction of all members' src, in rank order, into root's
// dst. dst is nil elsewhere and may be src at root. All src have the same
// length, a multiple of r.ElemBytes.
func (g *Group) Reduce(what uint64, root int, dst, src []byte, r Reduce) {
	if g.quick.tryReduce(g, what, root, dst, src, r) {
		return
	}
	if g.me != root {
		dst = nil
	}
	g.beginReduction(reduce, what, dst, src, r)
	g.setRoot(root, len(g.members))
	switch {
	case len(g.members) == 1:
		g.completeAlone(src)
	case g.size > g.reduceWhole && g.mutual && len(g.members) == 2:
		g.pipeline.startReduction(g)
	case g.size > g.reduceWhole:
		g.reduction.start(g)
	case root == g.me && g.keepsOwn(g.me):
		g.collector.start(g, nil)
	case root == g.me:
		g.collector.start(g, src)
	default:
		g.enterThen(idle, src)
	}
}

// Allreduce starts a reduction of all members' src, in rank order, into the dst of each member,
// with the same bits. dst may be src. All have the same length, a multiple of r.ElemBytes.
func (g *Group) Allreduce(what uint64, dst, src []byte, r Reduce) {
	wantLength("allreduce", len(dst), len(src))
	if g.pair.tryAllreduce(g, what, dst, src, r) {
		return
	}
	g.beginReduction(allreduce, what, dst, src, r)
	switch {
	case g.mutual && len(g.members) == 2 && g.size <= swapMax && g.size > g.allreduceWhole:
		g.swap.start(g)
	case len(g.members) > 1 && g.size > g.allreduceWhole:
		g.reduction.start(g)
	default:
		g.startWhole(src)
	}
}

// Scan starts a reduction of the src of members 0 to this one, in rank order, into
// dst. dst may be src. All have the same length, a multiple of r.ElemBytes.
func (g *Group) Scan(what uint64, dst, src []byte, r Reduce) {
	wantLength("scan", len(dst), len(src))
	if g.quick.tryScan(g, what, dst, src, r) {
		return
	}
	g.beginReduction(scan, what, dst, src, r)
	g.startScan()
}

// Exscan is Scan without this member's own src. The dst of member 0 does not change.
func (g *Group) Exscan(what uint64, dst, src []byte, r Reduce) {
	wantLength("exscan", len(dst), len(src))
	g.beginReduction(exscan, what, dst, src, r)
	g.startScan()
}

func (g *Group) startScan() {
	switch {
	case len(g.members) == 1 && g.verb == exscan:
		g.endOperation()
	case len(g.members) == 1:
		g.completeAlone(g.src)
	case g.size > g.scanWhole:
		g.pipeline.startScan(g)
	case g.me == 0: // its operand is in its arrival line
		g.enterThen(chaining, g.src)
	default:
		g.lines.results.Reach(g.lines.result(g.me, g.op))
		g.enterThen(chaining, nil)
	}
}

// Note starts an operation without any wait: it only publishes that this member has made the call
// what, so that members in another call detect the difference. With loud, sleeping members are to
// be woken at once.
func (g *Group) Note(what uint64, loud bool) {
	g.beginOperation(barrier, what, nil, nil, 0)
	if !loud {
		g.root = nobody
	}
	g.enterThen(idle, nil)
}
