package nodecoll

import "github.com/goulfm/goulfm/internal/segment"

// A large reduction of T chunks has steps 0 to T+1. In step t each member
//
//	reduces its slice of chunk t-1, from everybody's in-buffer, into its result buffer and dst,
//	copies the others' slices of chunk t-2 out of their result buffers, if it wants the result,
//	copies chunk t without its own slice into its in-buffer,
//
// and then all meet, except after the last step. Buffers alternate, so that
// what step t writes was last read in step t-1:
//
//	in[t mod 2]       written in step t, read in t+1, written again in t+2
//	result[t-1 mod 2] written in step t, read in t+1, written again in t+2
//
// The last results are still read when the next operation begins. Its result
// buffers are not written before its first meeting, but its in-buffers are: so
// where a buffer stands does not depend on the operation (on its elements, say).
//
// Where each member has a core both buffers of a chunk lie in a ring, see ringBytes, and
// those of the next chunk behind them, also if it is of the next operation: the ring has
// room for more than the chunks whose buffers are in use, which are two.
//
// dst may be src: a byte of src is last read in the step in which, or before, it
// is overwritten, and a block is reduced before it goes to dst.

// startReduction starts a large Reduce or Allreduce.
func (g *Group) startReduction() {
	g.cutReduction()
	g.start(working, nil)
}

// cutReduction says what its chunks are, and where they go.
func (g *Group) cutReduction() {
	unit := lineUnit(g.red.ElemBytes)
	chunk := max(unit, g.reduceChunk()/unit*unit)
	if g.mutual {
		chunk = min(chunk, (g.size+unit-1)/unit*unit) // the next operation begins behind it
	}
	g.large = large{chunk: chunk, chunks: (g.size + chunk - 1) / chunk, unit: unit}
	if g.mutual {
		g.takeRing(&g.large, chunk+chunk/len(g.members)+2*unitMax)
	}
}

// unitMax is the largest lineUnit: of elements of 15 bytes.
const unitMax = 15 * segment.Line

// lineUnit returns the least common multiple of an element and a line.
func lineUnit(elem int) int {
	unit := elem
	for unit%segment.Line != 0 {
		unit += elem
	}
	return unit
}

const (
	reduceChunkMutual = 128 << 10
	// Above 8 members with a core each a slice of 64 KiB would be short.
	reduceChunkMany = 128 << 10
)

func (g *Group) reduceChunk() int {
	switch {
	case g.chunkOf > 0:
		return min(g.chunkOf, chunkBytesMax)
	case !g.mutual:
		return chunkBytesMax
	case g.central:
		return reduceChunkMany
	}
	return reduceChunkMutual
}

// work does one step.
func (g *Group) work() bool {
	l := &g.large
	if l.step == 0 && !g.clear(max(g.ringOp, g.wideOp)) { // readers of my last broadcast may still be at my area
		return false
	}
	for ; l.part < 3; l.part++ {
		var done bool
		switch l.part {
		case 0:
			done = g.reduceSlice(l.step - 1)
		case 1:
			done = g.copyOut(l.step - 2)
		default:
			done = g.copyIn(l.step)
		}
		if !done {
			return false
		}
		l.at, l.of = 0, 0
	}
	if l.step == l.chunks+1 {
		g.endReduction()
		return true
	}
	if g.central {
		g.phase = counting
		return true
	}
	g.countStep()
	g.announce(All)
	g.cursor, g.phase = 0, meeting
	return true
}

// meet waits until all have done the step.
func (g *Group) meet() bool {
	l := &g.large
	want := l.step + 1
	for ; g.cursor < len(g.members); g.cursor++ {
		if g.cursor == g.me {
			continue
		}
		if !g.begun(g.cursor) {
			return false
		}
		p := &g.members[g.cursor]
		if done, v := p.stepsDone(want); done < want {
			return g.wait(p.steps, v)
		}
	}
	g.safe = g.op - 1
	g.stepDone()
	return true
}

// stepDone goes on after all have met. Who does not want the result leaves with
// the last meeting: after it nobody reads its in-buffers.
func (g *Group) stepDone() {
	l := &g.large
	l.step++
	l.part, l.at, l.of = 0, 0, 0
	g.phase = working
	if l.step == l.chunks+1 && g.dst == nil {
		g.endReduction()
	}
}

func (g *Group) endReduction() {
	g.redOp = g.op
	g.finish()
}

// chunkLen returns the bytes of chunk c, which starts at c*chunk.
func (l *large) chunkLen(c, size int) int { return min(l.chunk, size-c*l.chunk) }

// sliceOf returns the bounds of member m's slice in a chunk of the given bytes:
// whole units as evenly as possible; the end of the chunk may cut the last.
func (l *large) sliceOf(m, members, bytes int) (from, to int) {
	units := (bytes + l.unit - 1) / l.unit
	from = units * m / members * l.unit
	to = units * (m + 1) / members * l.unit
	return min(from, bytes), min(to, bytes)
}

// inRoom returns the room for a chunk, and resultRoom that for a slice of it,
// whatever the elements.
func (g *Group) inRoom() int     { return max(g.reduceChunk(), unitMax) }
func (g *Group) resultRoom() int { return g.inRoom()/len(g.members) + 2*unitMax }

// inAt and resultAt return where the buffers of chunk c stand.
func (g *Group) inAt(c int) int {
	if l := &g.large; l.span > 0 {
		return l.ringAt(c)
	}
	return c % 2 * g.inRoom()
}

func (g *Group) resultAt(c int) int {
	if l := &g.large; l.span > 0 {
		return l.ringAt(c) + l.chunk
	}
	return 2*g.inRoom() + c%2*g.resultRoom()
}

// reduceSlice reduces this member's slice of chunk c, block by block.
func (g *Group) reduceSlice(c int) bool {
	l := &g.large
	if c < 0 || c >= l.chunks {
		return true
	}
	from, to := l.sliceOf(g.me, len(g.members), l.chunkLen(c, g.size))
	block := max(l.unit, min(blockBytes, workBytes/len(g.members))/l.unit*l.unit)
	for from+l.at < to {
		if g.budget <= 0 {
			return false
		}
		n := min(block, to-from-l.at)
		g.reduceBlock(c, from+l.at, n, l.at)
		l.at += n
		g.budget -= n * len(g.members)
	}
	return true
}

// reduceBlock reduces n bytes at off of chunk c into dst and, for the others,
// into the result buffer at resultOff.
func (g *Group) reduceBlock(c, off, n, resultOff int) {
	l := &g.large
	at := c*l.chunk + off
	own := g.src[at : at+n]
	result := g.accumulator(at, n)
	var acc []byte
	for m := range g.members {
		in := own
		if m != g.me {
			in = g.area(m, g.inAt(c)+off, n)
		}
		if m > 0 {
			g.red.Func(result, acc, in)
			in = result
		}
		acc = in
	}
	if g.root != g.me { // root of a Reduce: nobody else wants it
		g.copier.Copy(g.area(g.me, g.resultAt(c)+resultOff, n), result)
	}
	if g.dst != nil && &g.dst[at] != &result[0] {
		copy(g.dst[at:at+n], result)
	}
}

// accumulator returns where to reduce n bytes at offset at: in dst, unless there
// is none, or lower ranks' operands would overwrite this one's there.
func (g *Group) accumulator(at, n int) []byte {
	if g.dst == nil || g.overwrites() {
		return g.scratch()[:n]
	}
	return g.dst[at : at+n]
}

// copyOut copies the others' slices of chunk c to dst.
func (g *Group) copyOut(c int) bool {
	l := &g.large
	if c < 0 || c >= l.chunks || g.dst == nil {
		return true
	}
	bytes := l.chunkLen(c, g.size)
	for ; l.of < len(g.members); l.of++ {
		if l.of == g.me {
			continue
		}
		from, to := l.sliceOf(l.of, len(g.members), bytes)
		for from+l.at < to {
			if g.budget <= 0 {
				return false
			}
			n := min(workBytes/4, to-from-l.at)
			copy(g.dst[c*l.chunk+from+l.at:][:n], g.area(l.of, g.resultAt(c)+l.at, n))
			l.at += n
			g.budget -= n
		}
		l.at = 0
	}
	return true
}

// copyIn copies chunk c into the in-buffer, except this member's own slice,
// which nobody else reads.
func (g *Group) copyIn(c int) bool {
	l := &g.large
	if c >= l.chunks {
		return true
	}
	bytes := l.chunkLen(c, g.size)
	from, to := l.sliceOf(g.me, len(g.members), bytes)
	for l.at < bytes {
		if l.at == from && from < to {
			l.at = to
			continue
		}
		if g.budget <= 0 {
			return false
		}
		end := bytes
		if l.at < from {
			end = from
		}
		n := min(workBytes/4, end-l.at)
		g.copier.Copy(g.area(g.me, g.inAt(c)+l.at, n), g.src[c*l.chunk+l.at:][:n])
		l.at += n
		g.budget -= n
	}
	return true
}
