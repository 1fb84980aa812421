package nodecoll

// A reduction is a large Reduce or Allreduce in which each member combines a slice of all members'
// data. A reduction of T chunks has steps 0 to T+1. In step t each member
//
//	reduces its slice of chunk t-1, from all in-buffers, into its result buffer and dst,
//	copies the others' slices of chunk t-2 out of their result buffers, if it needs the result,
//	copies chunk t without its own slice into its in-buffer,
//
// and then all meet, except after the last step. Buffers alternate, so that a buffer that step t
// writes was last read in step t-1:
//
//	in[t mod 2]       written in step t, read in t+1, written again in t+2
//	result[t-1 mod 2] written in step t, read in t+1, written again in t+2
//
// The last results are still read when the next operation begins. That operation writes its
// in-buffers before its first meeting, but not its result buffers. So the place of a buffer must
// not depend on the operation (on its elements, for example).
//
// If each member has a core, both buffers of a chunk lie in a ring, see ringBytes. The buffers of
// the next chunk lie behind them, even if that chunk belongs to the next operation. The ring has
// room for more than the two chunks whose buffers are in use.
//
// dst may be src: a byte of src is last read not later than in the step that overwrites it, and a
// block is reduced before it is copied to dst.
type reduction struct {
	ring ring
	unit int // bytes that slices are multiples of

	t       int  // the step
	meeting bool // waits until all have done the step
	cursor  int  // meeting: members 0 to cursor-1 have done it
	task    task
	at      int // progress of the task, in bytes
	of      int // the member whose slice is being copied out
}

// A task is one part of a step.
type task uint8

const (
	reducingSlice task = iota
	copyingOut
	copyingIn
	tasks
)

// start starts a large Reduce or Allreduce.
func (r *reduction) start(g *Group) {
	*r = reduction{}
	r.cut(g)
	g.enterThen(reducing, nil)
}

func (r *reduction) beginTask(t task) { r.task, r.at, r.of = t, 0, 0 }

// cut determines the chunks and their places.
func (r *reduction) cut(g *Group) {
	r.unit = lineUnit(g.red.ElemBytes)
	chunk := max(r.unit, g.reduceChunk()/r.unit*r.unit)
	if g.mutual {
		chunk = min(chunk, (g.size+r.unit-1)/r.unit*r.unit) // the next operation begins behind the chunk
	}
	r.ring = ring{chunk: chunk, chunks: (g.size + chunk - 1) / chunk}
	if g.mutual {
		r.ring.place(g, chunk+chunk/len(g.members)+2*unitMax)
	}
}

func (r *reduction) step(g *Group) bool {
	if r.meeting {
		return r.meet(g)
	}
	return r.doStep(g)
}

func (r *reduction) waitsFor(g *Group, m int) bool {
	switch {
	case !r.meeting:
		return !g.isHere(m)
	case g.central:
		return g.centre.waitsFor(g, m)
	}
	return g.isBehind(m, r.t+1)
}

// doStep does one step.
func (r *reduction) doStep(g *Group) bool {
	if r.t == 0 && !g.mayOverwrite(max(g.area.ringOp, g.area.wideOp)) { // readers of this member's last broadcast may still use its area
		return false
	}
	for r.task < tasks {
		if !r.doTask(g, r.task) {
			return false
		}
		r.beginTask(r.task + 1)
	}
	if r.t == r.ring.chunks+1 {
		r.leave(g)
		return true
	}
	r.cursor, r.meeting = 0, true
	if g.central {
		g.centre.begin(r.t)
		return true
	}
	g.countStep()
	g.announce(All)
	return true
}

// doTask performs a task of this step, and reports whether the task is done.
func (r *reduction) doTask(g *Group, t task) bool {
	switch t {
	case reducingSlice:
		return r.reduceSlice(g, r.t-1)
	case copyingOut:
		return r.copyOut(g, r.t-2)
	default:
		return r.copyIn(g, r.t)
	}
}

// meet waits until all have done the step.
func (r *reduction) meet(g *Group) bool {
	if g.central {
		if !g.centre.meet(g) {
			return false
		}
		if g.centre.isLast() {
			g.centre.release(g, false)
		}
	} else if !r.seeSteps(g) {
		return false
	}
	r.endStep(g)
	return true
}

// seeSteps reports whether the steps words show that all members have done the step.
func (r *reduction) seeSteps(g *Group) bool {
	want := r.t + 1
	for ; r.cursor < len(g.members); r.cursor++ {
		if r.cursor == g.me {
			continue
		}
		if !g.hasBegun(r.cursor) {
			return false
		}
		p := &g.members[r.cursor]
		if done, v := p.stepsDone(want); done < want {
			return g.waitOn(p.steps, v)
		}
	}
	g.safe = g.op - 1
	return true
}

// endStep begins the next step after all have met. A member that does not need the result leaves
// with the last meeting, after which no member reads its in-buffers.
func (r *reduction) endStep(g *Group) {
	r.t++
	r.meeting = false
	r.beginTask(reducingSlice)
	if r.t == r.ring.chunks+1 && g.dst == nil {
		r.leave(g)
	}
}

func (r *reduction) leave(g *Group) {
	g.area.reductionOp = g.op
	g.endOperation()
}

// sliceOf returns the bounds of member m's slice in a chunk of the given bytes:
// whole units as evenly as possible; the end of the chunk may cut the last.
func (r *reduction) sliceOf(m, members, bytes int) (from, to int) {
	units := (bytes + r.unit - 1) / r.unit
	from = units * m / members * r.unit
	to = units * (m + 1) / members * r.unit
	return min(from, bytes), min(to, bytes)
}

// inRoom returns the room for a chunk, and resultRoom the room for a slice of a chunk, for elements
// of any size.
func (r *reduction) inRoom(g *Group) int     { return max(g.reduceChunk(), unitMax) }
func (r *reduction) resultRoom(g *Group) int { return r.inRoom(g)/len(g.members) + 2*unitMax }

// inAt and resultAt return the places of the buffers of chunk c in the area of member m.
func (r *reduction) inAt(g *Group, m, c int) int {
	if r.ring.span > 0 {
		return r.ring.offsetAt(g, m, c)
	}
	return c % 2 * r.inRoom(g)
}

func (r *reduction) resultAt(g *Group, m, c int) int {
	if r.ring.span > 0 {
		return r.ring.offsetAt(g, m, c) + r.ring.chunk
	}
	return 2*r.inRoom(g) + c%2*r.resultRoom(g)
}

// reduceSlice reduces this member's slice of chunk c, block by block.
func (r *reduction) reduceSlice(g *Group, c int) bool {
	if c < 0 || c >= r.ring.chunks {
		return true
	}
	_, bytes := r.ring.bounds(c, g.size)
	from, to := r.sliceOf(g.me, len(g.members), bytes)
	block := max(r.unit, min(blockBytes, workBytes/len(g.members))/r.unit*r.unit)
	for from+r.at < to {
		if g.budget <= 0 {
			return false
		}
		n := min(block, to-from-r.at)
		r.reduceBlock(g, c, from+r.at, n)
		r.at += n
		g.budget -= n * len(g.members)
	}
	return true
}

// reduceBlock reduces n bytes at off of chunk c into dst and, for the others,
// into the result buffer.
func (r *reduction) reduceBlock(g *Group, c, off, n int) {
	at := c*r.ring.chunk + off
	own := g.src[at : at+n]
	result := r.accumulator(g, at, n)
	var acc []byte
	for m := range g.members {
		in := own
		if m != g.me {
			in = g.memory.areaOf(m, r.inAt(g, m, c)+off, n)
		}
		if m > 0 {
			g.red.Func(result, acc, in)
			in = result
		}
		acc = in
	}
	if g.root != g.me { // root of a Reduce: no other member needs the result
		g.copier.Copy(g.memory.areaOf(g.me, r.resultAt(g, g.me, c)+r.at, n), result)
	}
	if g.dst != nil && &g.dst[at] != &result[0] {
		copy(g.dst[at:at+n], result)
	}
}

// accumulator returns the memory in which to reduce n bytes at offset at: dst, unless there is
// none, or lower ranks' operands would overwrite this member's operand there.
func (r *reduction) accumulator(g *Group, at, n int) []byte {
	if g.dst == nil || g.overwritesOwn(g.me) {
		return g.memory.scratchBlock()[:n]
	}
	return g.dst[at : at+n]
}

// copyOut copies the others' slices of chunk c to dst.
func (r *reduction) copyOut(g *Group, c int) bool {
	if c < 0 || c >= r.ring.chunks || g.dst == nil {
		return true
	}
	start, bytes := r.ring.bounds(c, g.size)
	for ; r.of < len(g.members); r.of++ {
		if r.of == g.me {
			continue
		}
		from, to := r.sliceOf(r.of, len(g.members), bytes)
		for from+r.at < to {
			if g.budget <= 0 {
				return false
			}
			n := min(workBytes/4, to-from-r.at)
			copy(g.dst[start+from+r.at:][:n], g.memory.areaOf(r.of, r.resultAt(g, r.of, c)+r.at, n))
			r.at += n
			g.budget -= n
		}
		r.at = 0
	}
	return true
}

// copyIn copies chunk c into the in-buffer, except this member's own slice, which no other member
// reads.
func (r *reduction) copyIn(g *Group, c int) bool {
	if c >= r.ring.chunks {
		return true
	}
	start, bytes := r.ring.bounds(c, g.size)
	from, to := r.sliceOf(g.me, len(g.members), bytes)
	for r.at < bytes {
		if r.at == from && from < to {
			r.at = to
			continue
		}
		if g.budget <= 0 {
			return false
		}
		end := bytes
		if r.at < from {
			end = from
		}
		n := min(workBytes/4, end-r.at)
		g.copier.Copy(g.memory.areaOf(g.me, r.inAt(g, g.me, c)+r.at, n), g.src[start+r.at:][:n])
		r.at += n
		g.budget -= n
	}
	return true
}
