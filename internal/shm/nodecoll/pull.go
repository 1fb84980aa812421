package nodecoll

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A pull is an operation whose blocks are too large to be published: each member says in its
// arrival line where its source is, and the others copy from there straight into their
// destinations (Config.Pull). In the end all meet, each with a result line that says whether
// that worked: so nobody has its source back while another reads it, and nobody
// completes with bytes of a member that gave up meanwhile.
type pull struct {
	from func(member int, addr uint64, dst []byte) bool // Config.Pull

	off, bytes int // of this member's block in each source
	state      pullState
	cursor     int // so many members are done with: copying begins at this one, confirming at 0
	pos        int // bytes copied of a block
	refused    bool
}

// A pullState is where this member stands in a pull.
type pullState uint8

const (
	copying       pullState = iota // from one member after the other
	meetingCentre                  // waits until all have copied, and for the last one
	confirming                     // reads the result lines of all
)

// What a result line says: whether the kernel has let a member copy.
const (
	pulled  = 0
	refused = 1
)

// Refused says of a complete operation that the kernel did not let some member copy
// from another: the same at all members. Destinations are undefined then, and the
// caller has another way.
func (g *Group) Refused() bool { return g.next == pulling && g.pull.refused }

// start starts an operation of blocks of n bytes, of which this member's is at off
// in the source of each other, or of the root.
func (p *pull) start(g *Group, off, n int) {
	that(p.from != nil, "blocks of %d bytes without a way to copy them", n)
	*p = pull{from: p.from, off: off, bytes: n}
	g.enterThen(pulling, nil)
}

func (p *pull) step(g *Group) bool {
	switch p.state {
	case copying:
		return p.copyBlocks(g)
	case meetingCentre:
		return p.meetCentre(g)
	default:
		return p.confirmAll(g)
	}
}

func (p *pull) waitsFor(g *Group, m int) bool {
	switch p.state {
	case copying:
		return m == (g.me+p.cursor)%len(g.members)
	case meetingCentre:
		return g.centre.waitsFor(g, m)
	default:
		return segment.Load64(g.lines.word(g.lines.result(m, g.op))) != g.members[m].base+uint64(g.op)
	}
}

// copyBlocks copies from one member after the other, this one first.
func (p *pull) copyBlocks(g *Group) bool {
	n := len(g.members)
	for ; p.cursor < n; p.cursor++ {
		m := (g.me + p.cursor) % n
		if g.verb == scatter && m != g.root {
			continue
		}
		if m != g.me && !g.hasArrived(m) || !p.copyBlock(g, m) {
			return false
		}
	}
	p.confirm(g)
	return true
}

// copyBlock copies this member's block of member m.
func (p *pull) copyBlock(g *Group, m int) bool {
	dst := g.dst
	if g.verb != scatter {
		dst = dst[m*p.bytes : (m+1)*p.bytes]
	}
	for p.pos < p.bytes {
		if g.budget <= 0 {
			return false
		}
		n := min(pullBytes, p.bytes-p.pos)
		p.copyPiece(g, m, dst[p.pos:p.pos+n])
		p.pos += n
		g.budget -= n
	}
	p.pos = 0
	return true
}

func (p *pull) copyPiece(g *Group, m int, dst []byte) {
	at := p.off + p.pos
	if m == g.me {
		if src := g.src[at:]; &dst[0] != &src[0] { // in place: the others are reading it
			copy(dst, src)
		}
		return
	}
	if p.refused {
		return
	}
	from := binary.LittleEndian.Uint64(g.lines.body(g.lines.arrival(m, g.op))[inlineAt:])
	p.refused = !p.from(m, from+uint64(at), dst)
}

// confirm says that this member needs no source any more, and meets the others.
func (p *pull) confirm(g *Group) {
	word := uint64(pulled)
	if p.refused {
		word = refused
	}
	at := g.lines.result(g.me, g.op)
	g.lines.results.Reach(at)
	segment.Put64(g.lines.payloadWord(at), word)
	g.publishResult()
	p.cursor = 0
	if g.central {
		g.centre.begin(0)
		p.state = meetingCentre
		return
	}
	g.announce(All)
	p.state = confirming
}

// meetCentre waits until all have confirmed. The last one reads what they say, for all.
func (p *pull) meetCentre(g *Group) bool {
	if !g.centre.meet(g) {
		return false
	}
	if g.centre.isLast() {
		p.state = confirming
		return true
	}
	p.refused = g.centre.refused
	g.endOperation()
	return true
}

// confirmAll waits until all have confirmed.
func (p *pull) confirmAll(g *Group) bool {
	for ; p.cursor < len(g.members); p.cursor++ {
		at := g.lines.result(p.cursor, g.op)
		if p.cursor != g.me && !g.hasCome(p.cursor, at) {
			return false
		}
		p.refused = p.refused || binary.LittleEndian.Uint64(g.lines.body(at)[inlineAt:]) != pulled
	}
	g.safe = g.op - 1
	if g.central {
		g.centre.release(g, p.refused)
	}
	g.endOperation()
	return true
}
