package nodecoll

import "github.com/goulfm/goulfm/internal/segment"

// The shortest ways: a member that waits for nobody publishes its line, one that waits
// for a single other finds its line there, and two that wait for each other have nothing to
// ask but that. They are what the long way does, without what it does for a wait that does
// not come. Where anything is not that simple nothing has happened, and the long way begins.

// quick says whether the next operation may go the short way with a payload of size bytes
// that goes with a line.
func (g *Group) quick(size int) bool { return size <= g.inline && g.free(slots) }

// free says whether nobody reads any more what was published reach operations before the
// next one, and whether the arrival in that need not be announced to more than who needs
// it.
func (g *Group) free(reach int64) bool {
	return g.op+1-reach <= g.safe && g.op+1-g.announcedOp < slots/2 && g.phase == idle
}

// quickSend makes an operation in which this member has a payload for others, who may
// sleep: to, or All.
func (g *Group) quickSend(v verb, what uint64, out []byte, to int) bool {
	if !g.quick(len(out)) {
		return false
	}
	g.quickPublish(v, idle, what, out, len(out))
	g.announce(to)
	if to == All {
		g.announcedOp = g.op
	}
	return true
}

// quickTake makes an operation in which this member takes size bytes of member m, if they
// are there: they stay until this member's next operation.
func (g *Group) quickTake(v verb, what uint64, m, size int) (payload []byte, ok bool) {
	if !g.quick(size) {
		return nil, false
	}
	at := g.lines.arrival(m, g.op+1)
	if segment.Load64(g.lines.word(at)) != g.members[m].base+uint64(g.op+1) || g.lines.what(at) != what {
		return nil, false
	}
	g.quickPublish(v, reading, what, nil, size)
	g.members[m].left = g.op - 1
	if len(g.members) == 2 {
		g.safe = g.op - 1
	}
	return g.lines.body(at)[inlineAt : inlineAt+size], true
}

func (g *Group) quickPublish(v verb, next phase, what uint64, out []byte, size int) {
	g.op++
	g.verb, g.next, g.what, g.size, g.refused = v, next, what, size, false
	if v != scan {
		g.sharedOp = g.op
	}
	g.publish(out)
}

// quickMeet enters an operation in which two members with a core each wait for each other,
// with what this one has for the other.
//
// It does not look for the other's line at once. The other does the same at the same time,
// mostly, and who looks too early takes its line away from it (park.Patience).
func (g *Group) quickMeet(v verb, what uint64, dst, src, out []byte) bool {
	if len(g.members) != 2 || g.central || len(out) > ringDirectMutual || !g.free(metSlots) {
		return false
	}
	m := 1 - g.me
	g.quickPublish(v, facing, what, out, len(out))
	g.announce(m)
	g.announcedOp = g.op
	g.dst, g.src, g.root, g.phase = dst, src, nobody, facing
	g.wait(g.lines.word(g.lines.arrival(m, g.op)), g.members[m].base+uint64(g.op)-slots)
	return true
}

// face completes what quickMeet has entered, when the other's line is there.
func (g *Group) face() bool {
	m := 1 - g.me
	at := g.lines.arrival(m, g.op)
	if !g.stands(m, at) {
		return false
	}
	g.safe = g.op - 1
	payload := g.payload(m)
	switch g.verb {
	case allreduce:
		g.red.inOrder(g.dst, g.src, payload, m)
	case reduceScatter:
		g.red.inOrder(g.dst, g.src[g.me*g.size:][:g.size], payload, m)
	case allgather, alltoall:
		copy(g.dst[m*g.size:], payload)
	}
	g.phase, g.waiting, g.dst, g.src = idle, nil, nil, nil
	return true
}

// other returns the other of two members, if there are two, and a root that exists.
func (g *Group) other(root int) (m int, ok bool) {
	return 1 - g.me, len(g.members) == 2 && root&^1 == 0
}

func (g *Group) quickBcast(what uint64, root int, buf []byte) bool {
	if uint(root) >= uint(len(g.members)) || len(g.members) == 1 {
		return false
	}
	if root == g.me {
		return g.quickSend(bcast, what, buf, All)
	}
	payload, ok := g.quickTake(bcast, what, root, len(buf))
	if ok {
		copy(buf, payload)
	}
	return ok
}

func (g *Group) quickReduce(what uint64, root int, dst, src []byte, r Reduce) bool {
	m, ok := g.other(root)
	switch {
	case !ok:
		return false
	case root != g.me:
		return g.quickSend(reduce, what, src, root)
	}
	payload, ok := g.quickTake(reduce, what, m, len(src))
	if ok {
		r.inOrder(dst, src, payload, m)
	}
	return ok
}

// inOrder sets dst to own op others, or the other way round if that of member m goes first:
// of two.
func (r *Reduce) inOrder(dst, own, others []byte, m int) {
	switch {
	case len(own) == 0:
	case m == 0:
		r.Func(dst, others, own)
	default:
		r.Func(dst, own, others)
	}
}

func (g *Group) quickScan(what uint64, dst, src []byte, r Reduce) bool {
	m, ok := g.other(0)
	switch {
	case !ok:
		return false
	case m == 0:
		payload, ok := g.quickTake(scan, what, m, len(src))
		if ok {
			r.inOrder(dst, src, payload, m)
		}
		return ok
	}
	if !g.quickSend(scan, what, src, m) {
		return false
	}
	copy(dst, src)
	return true
}

func (g *Group) quickGather(what uint64, root int, dst, src []byte) bool {
	m, ok := g.other(root)
	switch {
	case !ok:
		return false
	case root != g.me:
		return g.quickSend(gather, what, src, root)
	case len(dst) != 2*len(src):
		return false
	}
	payload, ok := g.quickTake(gather, what, m, len(src))
	if ok {
		copy(dst[g.me*len(src):], src)
		copy(dst[m*len(src):], payload)
	}
	return ok
}

func (g *Group) quickScatter(what uint64, root int, dst, src []byte) bool {
	m, ok := g.other(root)
	switch {
	case !ok:
		return false
	case root != g.me:
		payload, ok := g.quickTake(scatter, what, m, len(dst))
		if ok {
			copy(dst, payload)
		}
		return ok
	case len(src) != 2*len(dst) || !g.quickSend(scatter, what, src[m*len(dst):(m+1)*len(dst)], All):
		return false
	}
	copy(dst, src[g.me*len(dst):])
	return true
}

func (g *Group) quickAllreduce(what uint64, dst, src []byte, r Reduce) bool {
	if !r.fits(len(src)) || !g.quickMeet(allreduce, what, dst, src, src) {
		return false
	}
	g.red = r
	return true
}

func (g *Group) quickAllgather(what uint64, dst, src []byte) bool {
	if !g.quickMeet(allgather, what, dst, src, src) {
		return false
	}
	copy(dst[g.me*len(src):], src)
	return true
}

func (g *Group) quickAlltoall(what uint64, dst, src []byte) bool {
	m, ok := g.other(0)
	if !ok {
		return false
	}
	part := len(src) / 2
	if !g.quickMeet(alltoall, what, dst, src, src[m*part:][:part]) {
		return false
	}
	copy(dst[g.me*part:], src[g.me*part:][:part])
	return true
}

func (g *Group) quickReduceScatter(what uint64, dst, src []byte, r Reduce) bool {
	m, ok := g.other(0)
	if !ok || !r.fits(len(src)) || !g.quickMeet(reduceScatter, what, dst, src, src[m*len(dst):][:len(dst)]) {
		return false
	}
	g.red = r
	return true
}
