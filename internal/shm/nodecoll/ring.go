package nodecoll

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A ring holds the chunks of an operation that is too large for a slot. The chunks lie in the area
// of the member that writes them, one behind the other, and wrap around. broadcast, pipeline, swap
// and reduction each have a ring.
//
//	place     0         1         2         3
//	area   | chunk 2 | chunk 3 | chunk 4 | chunk 5 |    room 4, first 2; here chunks 0 and 1 were
type ring struct {
	chunk  int // bytes of a chunk
	chunks int
	span   int // bytes of the area for a chunk; 0: there is no ring
	room   int // chunks that fit
	first  int // the place of the first chunk, in chunks
}

// cut makes r the ring of the open operation, with chunks of chunk bytes.
func (r *ring) cut(g *Group, chunk int) {
	*r = ring{chunk: chunk, chunks: (g.size + chunk - 1) / chunk}
	r.place(g, chunk)
}

// place gives the ring span bytes of the area for each chunk. The ring begins at the end of the
// last ring that this member knows of. Others may know of another last ring, after operations in
// which members made different calls:
//
//	member 0   broadcast of 40 KB, abandoned   broadcast: fills places 3, 4, ...
//	member 1   barrier, abandoned              broadcast: would drain places 0, 1, ...
//
// So each member publishes the beginning of its ring in its arrival line.
func (r *ring) place(g *Group, span int) {
	r.span, r.room = span, g.ringBytes()/span
	r.first = (g.area.ringAt + span - 1) / span % r.room
	g.area.ringAt = r.offset(r.first, r.chunks)
	g.area.first = r.first
}

// offset returns the offset of a chunk in the area if chunk 0 is at place first.
func (r *ring) offset(first, pos int) int { return (first + pos) % r.room * r.span }

// offsetAt returns the offset of a chunk in the area of member m, which has entered the operation.
func (r *ring) offsetAt(g *Group, m, pos int) int {
	first := r.first
	if m != g.me {
		line := g.lines.body(g.lines.arrival(m, g.op))
		first = int(binary.LittleEndian.Uint32(line[ringFirstAt:]))
	}
	return r.offset(first, pos)
}

// bounds returns the beginning and the length of a chunk of an operation of size bytes.
func (r *ring) bounds(pos, size int) (off, n int) {
	off = pos * r.chunk
	return off, min(r.chunk, size-off)
}

// inChunk returns n bytes at off of a chunk in the ring of member m.
func (r *ring) inChunk(g *Group, m, pos, off, n int) []byte {
	return g.memory.areaOf(m, r.offsetAt(g, m, pos)+off, n)
}

// hasDone reports whether member m is done with the given number of chunks.
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

// combineChunk combines a chunk of member up with this member's chunk, for dst and for member down;
// -1: there is no such member. up may be the higher member of a pair; then there is no down.
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

// cutElements is cut for an operation that combines elements: a chunk holds whole elements.
func (r *ring) cutElements(g *Group) {
	unit := lineUnit(g.red.ElemBytes)
	r.cut(g, max(unit, g.ringChunk(g.size)/unit*unit))
	g.area.anyOp = g.op
}
