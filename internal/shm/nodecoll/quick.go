package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// quick is the shortest path: a member that waits for no other member publishes its line, and a
// member that waits for a single other member finds that line there. The call itself completes the
// operation. The result is the same as on the normal path, without the preparations for a wait.
// Each try method reports whether it has completed the operation. If not, nothing has happened, and
// the caller must use the normal path.
//
// quick has no state, and no step.
type quick struct{}

// isFree reports whether no member still reads the memory published reach operations before the
// next operation, and whether only the member that needs the next arrival must be notified of it.
func (quick) isFree(g *Group, reach int64) bool {
	return g.op+1-reach <= g.safe && g.op+1-g.announcedOp < slots/2 && g.phase == idle
}

// fitsLine reports whether the next operation may use this path with a payload of size bytes.
func (q quick) fitsLine(g *Group, size int) bool {
	return size <= g.lines.inline && q.isFree(g, slots)
}

// enter enters the next operation.
func (quick) enter(g *Group, v verb, next phase, what uint64, out []byte, size int) {
	g.op++
	g.verb, g.next, g.what, g.size = v, next, what, size
	if v != scan {
		g.sharedOp = g.op
	}
	g.publishArrival(out)
}

// trySend makes an operation in which this member has a payload for others that may sleep: member
// to, or All.
func (q quick) trySend(g *Group, v verb, what uint64, out []byte, to int) bool {
	if !q.fitsLine(g, len(out)) {
		return false
	}
	q.enter(g, v, idle, what, out, len(out))
	g.announce(to)
	if to == All {
		g.announcedOp = g.op
	}
	return true
}

// tryTake makes an operation in which this member takes size bytes of member m, if they are there.
// The bytes stay valid until this member's next operation.
func (q quick) tryTake(g *Group, v verb, what uint64, m, size int) (payload []byte, ok bool) {
	if !q.fitsLine(g, size) {
		return nil, false
	}
	at := g.lines.arrival(m, g.op+1)
	if segment.Load64(g.lines.word(at)) != g.members[m].base+uint64(g.op+1) || g.lines.what(at) != what {
		return nil, false
	}
	q.enter(g, v, reading, what, nil, size)
	g.members[m].left = g.op - 1
	if len(g.members) == 2 {
		g.safe = g.op - 1
	}
	return g.lines.body(at)[inlineAt : inlineAt+size], true
}

// otherOfTwo returns the other member, and whether there are two, and a root that exists.
func otherOfTwo(g *Group, root int) (m int, ok bool) {
	return 1 - g.me, len(g.members) == 2 && root&^1 == 0
}

func (q quick) tryBcast(g *Group, what uint64, root int, buf []byte) bool {
	if uint(root) >= uint(len(g.members)) || len(g.members) == 1 {
		return false
	}
	if root == g.me {
		return q.trySend(g, bcast, what, buf, All)
	}
	payload, ok := q.tryTake(g, bcast, what, root, len(buf))
	if ok {
		copy(buf, payload)
	}
	return ok
}

func (q quick) tryReduce(g *Group, what uint64, root int, dst, src []byte, r Reduce) bool {
	m, ok := otherOfTwo(g, root)
	switch {
	case !ok:
		return false
	case root != g.me:
		return q.trySend(g, reduce, what, src, root)
	}
	payload, ok := q.tryTake(g, reduce, what, m, len(src))
	if ok {
		r.combineTwo(dst, src, payload, m)
	}
	return ok
}

func (q quick) tryScan(g *Group, what uint64, dst, src []byte, r Reduce) bool {
	m, ok := otherOfTwo(g, 0)
	switch {
	case !ok:
		return false
	case m == 0:
		payload, ok := q.tryTake(g, scan, what, m, len(src))
		if ok {
			r.combineTwo(dst, src, payload, m)
		}
		return ok
	}
	if !q.trySend(g, scan, what, src, m) {
		return false
	}
	copy(dst, src)
	return true
}

func (q quick) tryGather(g *Group, what uint64, root int, dst, src []byte) bool {
	m, ok := otherOfTwo(g, root)
	switch {
	case !ok:
		return false
	case root != g.me:
		return q.trySend(g, gather, what, src, root)
	case len(dst) != 2*len(src):
		return false
	}
	payload, ok := q.tryTake(g, gather, what, m, len(src))
	if ok {
		copy(dst[g.me*len(src):], src)
		copy(dst[m*len(src):], payload)
	}
	return ok
}

func (q quick) tryScatter(g *Group, what uint64, root int, dst, src []byte) bool {
	m, ok := otherOfTwo(g, root)
	switch {
	case !ok:
		return false
	case root != g.me:
		payload, ok := q.tryTake(g, scatter, what, m, len(dst))
		if ok {
			copy(dst, payload)
		}
		return ok
	case len(src) != 2*len(dst) || !q.trySend(g, scatter, what, src[m*len(dst):(m+1)*len(dst)], All):
		return false
	}
	copy(dst, src[g.me*len(dst):])
	return true
}
