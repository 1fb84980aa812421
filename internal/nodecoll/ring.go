package nodecoll

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/segment"
)

// large is the state of an operation that goes by steps.
type large struct {
	chunk  int // bytes of a chunk
	chunks int
	span   int // ring: bytes for a chunk; 0: there is none
	room   int // ring: chunks that fit
	first  int // ring: where the first chunk stands, in chunks
	pos    int // ring: chunks filled, or drained, or passed on; bytes pulled of a block
	free   int // ring, root: chunks that all readers have drained

	off, bytes int // pulls: of this member's block in each source

	up, down int // chain: whose chunks this member takes, and who takes its own; -1: nobody

	unit int // reduction: bytes that slices are multiples of
	step int
	part int
	at   int // how far the part is, in bytes
	of   int // whose slice is being copied out
}

// startRing starts a large broadcast: root copies chunks into its ring and
// counts them in its steps word; readers copy them out. A reader counts only
// what root may wait for.
func (g *Group) startRing() {
	g.src = g.dst
	g.large = g.inRing(g.ringChunk())
	g.areaOp = g.op
	if g.root == g.me {
		g.start(filling, nil)
	} else {
		g.start(draining, nil)
	}
}

// inRing is an operation that goes through rings of such chunks.
func (g *Group) inRing(chunk int) large {
	l := large{chunk: chunk, chunks: (g.size + chunk - 1) / chunk}
	g.takeRing(&l, chunk)
	return l
}

// takeRing gives an operation a ring of so many bytes for each chunk. It begins where the
// last one has ended, in whosever area that was: all members have made the same operations.
func (g *Group) takeRing(l *large, span int) {
	l.span, l.room = span, g.ringBytes()/span
	l.first = (g.ringAt + span - 1) / span % l.room
	g.ringAt = l.ringAt(l.chunks)
}

// ringAt returns where a chunk stands in the ring.
func (l *large) ringAt(pos int) int { return (l.first + pos) % l.room * l.span }

// inChunk returns n bytes at off of a chunk in the ring of member m.
func (g *Group) inChunk(m, pos, off, n int) []byte {
	return g.area(m, g.large.ringAt(pos)+off, n)
}

// ringBytes is what a ring may use of the area. Where each member has a core it goes round
// in more than a second-level cache has: a chunk is then written where the one before it
// has left the cache of who read it, from where it would take longer to get. Where members
// share cores it stays short.
func (g *Group) ringBytes() int {
	if g.mutual {
		return areaBytes
	}
	return sharedAreaBytes
}

const (
	ringChunkMutual    = 16 << 10
	ringChunkMutualMin = 4 << 10 // so that short messages overlap copying in and out too
)

// ringChunk returns the bytes of a chunk of this operation.
func (g *Group) ringChunk() int {
	switch {
	case g.chunkOf > 0:
		return min(g.chunkOf, ringChunkBytesMax)
	case g.mutual:
		return min(max(g.size/4&^(segment.Line-1), ringChunkMutualMin), ringChunkMutual)
	}
	return ringChunkBytesMax
}

// fill is root's side.
func (g *Group) fill() bool {
	if !g.clearArea() {
		return false
	}
	l := &g.large
	for ; l.pos < l.chunks; l.pos++ {
		if l.pos >= l.room && !g.drained(l.pos-l.room+1) {
			return false
		}
		if g.budget <= 0 {
			return false
		}
		off := l.pos * l.chunk
		n := min(l.chunk, g.size-off)
		g.copier.Copy(g.inChunk(g.me, l.pos, 0, n), g.src[off:off+n])
		g.countStep()
		g.announce(All)
		g.budget -= n
	}
	g.ringOp = g.op
	g.finish()
	return true
}

// drained says whether all readers have drained want chunks.
func (g *Group) drained(want int) bool {
	l := &g.large
	if want <= l.free {
		return true
	}
	least := l.chunks
	for m := range g.members {
		if m == g.me {
			continue
		}
		if !g.begun(m) {
			return false
		}
		p := &g.members[m]
		done, v := p.stepsDone(l.chunks)
		if done < want {
			return g.wait(p.steps, v)
		}
		least = min(least, done)
	}
	l.free = least
	return true
}

// drain is a reader's side.
func (g *Group) drain() bool {
	if !g.begun(g.root) {
		return false
	}
	l, p := &g.large, &g.members[g.root]
	for l.pos < l.chunks {
		filled, v := p.stepsDone(l.chunks)
		if filled <= l.pos {
			return g.wait(p.steps, v)
		}
		for ; l.pos < filled; l.pos++ {
			if g.budget <= 0 {
				return false
			}
			g.takeChunk()
		}
	}
	g.finish()
	return true
}

func (g *Group) takeChunk() {
	l := &g.large
	off := l.pos * l.chunk
	n := min(l.chunk, g.size-off)
	copy(g.dst[off:off+n], g.inChunk(g.root, l.pos, 0, n))
	g.budget -= n
	if l.pos+l.room < l.chunks {
		g.countStep()
		g.announce(g.root)
	}
}

// countStep publishes one more step of this member.
func (g *Group) countStep() {
	g.steps++
	segment.Publish64(g.members[g.me].steps, g.steps)
}

// begun says whether member m has entered the operation, and where its steps
// word stood then.
func (g *Group) begun(m int) bool {
	p := &g.members[m]
	if p.started == g.op {
		return true
	}
	if !g.arrived(m) {
		return false
	}
	p.started, p.left = g.op, g.op-1
	p.start = binary.LittleEndian.Uint64(g.lines.body(g.lines.arrival(m, g.op))[inlineAt:])
	return true
}

// stepsDone returns how many of the at most most steps of the operation m has
// published, and its steps word. m may have left the operation and counted on in
// later ones.
func (m *member) stepsDone(most int) (done int, word uint64) {
	word = segment.Load64(m.steps)
	since := word - m.start
	if int64(since) < 0 {
		return 0, word
	}
	return int(min(since, uint64(most))), word
}
