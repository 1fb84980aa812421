package nodecoll

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A ring is how an operation that is too large for a slot cuts its data into chunks, and where
// the chunks stand in the area of the member that writes them: one behind the other, round
// and round. broadcast, pipeline, swap and reduction each have one.
//
//	place     0         1         2         3
//	area   | chunk 2 | chunk 3 | chunk 4 | chunk 5 |    room 4, first 2; here chunks 0 and 1 were
type ring struct {
	chunk  int // bytes of a chunk
	chunks int
	span   int // bytes of the area for a chunk; 0: there is no ring
	room   int // chunks that fit
	first  int // where the first chunk stands, in chunks
}

// cut makes it the ring of the open operation, of chunks of so many bytes.
func (r *ring) cut(g *Group, chunk int) {
	*r = ring{chunk: chunk, chunks: (g.size + chunk - 1) / chunk}
	r.place(g, chunk)
}

// place gives the ring so many bytes of the area for each chunk. It begins where the
// last one that this member knows of has ended. Others may know of another one, after
// operations in which members made different calls:
//
//	member 0   broadcast of 40 KB, abandoned   broadcast: fills places 3, 4, ...
//	member 1   barrier, abandoned              broadcast: would drain places 0, 1, ...
//
// So each member says in its arrival line where its ring begins.
func (r *ring) place(g *Group, span int) {
	r.span, r.room = span, g.ringBytes()/span
	r.first = (g.area.ringAt + span - 1) / span % r.room
	g.area.ringAt = r.offset(r.first, r.chunks)
	g.area.first = r.first
}

// offset returns where a chunk stands in the area if chunk 0 stands at place first.
func (r *ring) offset(first, pos int) int { return (first + pos) % r.room * r.span }

// offsetAt returns where a chunk stands in the area of member m, which has entered the
// operation.
func (r *ring) offsetAt(g *Group, m, pos int) int {
	first := r.first
	if m != g.me {
		line := g.lines.body(g.lines.arrival(m, g.op))
		first = int(binary.LittleEndian.Uint32(line[ringFirstAt:]))
	}
	return r.offset(first, pos)
}

// bounds returns where a chunk of an operation of size bytes begins, and how long it is.
func (r *ring) bounds(pos, size int) (off, n int) {
	off = pos * r.chunk
	return off, min(r.chunk, size-off)
}

// inChunk returns n bytes at off of a chunk in the ring of member m.
func (r *ring) inChunk(g *Group, m, pos, off, n int) []byte {
	return g.memory.areaOf(m, r.offsetAt(g, m, pos)+off, n)
}

// hasDone says whether member m is done with so many chunks.
func (r *ring) hasDone(g *Group, m, chunks int) bool {
	if !g.hasBegun(m) {
		return false
	}
	p := &g.members[m]
	done, v := p.stepsDone(r.chunks)
	return done >= chunks || g.waitOn(p.steps, v)
}

// writeChunk copies a chunk of src into this member's ring.
func (r *ring) writeChunk(g *Group, pos int) {
	off, n := r.bounds(pos, g.size)
	g.copier.Copy(r.inChunk(g, g.me, pos, 0, n), g.src[off:off+n])
	g.budget -= n
}

// combineChunk combines a chunk of member up with this one's, for dst and for member down;
// -1: there is no such member. up may be the higher of a pair, which has no down then.
func (r *ring) combineChunk(g *Group, up, down, pos int) {
	off, bytes := r.bounds(pos, g.size)
	for done := 0; done < bytes; {
		n := min(g.red.block(), bytes-done)
		var before, on []byte
		if up >= 0 {
			before = r.inChunk(g, up, pos, done, n)
		}
		if down >= 0 {
			on = r.inChunk(g, g.me, pos, done, n)
		}
		if at := off + done; up > g.me {
			g.red.Func(g.dst[at:at+n], g.src[at:at+n], before)
		} else {
			g.combineBlock(before, on, at, n)
		}
		done += n
	}
	g.budget -= bytes
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

// cutElements is cut for an operation that combines elements: a chunk is whole ones.
func (r *ring) cutElements(g *Group) {
	unit := lineUnit(g.red.ElemBytes)
	r.cut(g, max(unit, g.ringChunk(g.size)/unit*unit))
	g.area.anyOp = g.op
}
