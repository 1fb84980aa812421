package nodecoll

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A pull is an operation whose blocks are too large to be published: each member publishes the
// address of its source in its arrival line, and the others copy from there directly into their
// destinations (Config.Pull). At the end all meet, and each result line shows whether its member's
// copies worked. So no caller gets its source back while another member reads it, and no member
// completes with bytes of a member that gave up meanwhile.
type pull struct {
	from func(member int, addr uint64, dst []byte) bool // Config.Pull

	off, bytes int // of this member's block in each source
	state      pullState
	cursor     int // number of members done: copying begins at this member, confirming at 0
	pos        int // bytes copied of a block
	refused    bool
}

// A pullState is the progress of this member in a pull.
type pullState uint8

const (
	copying       pullState = iota // from one member after the other
	meetingCentre                  // waits until all have copied, and for the last one
	confirming                     // reads the result lines of all
)

// The values of a result line: whether the kernel has permitted a member's copies.
const (
	pulled  = 0
	refused = 1
)

// Refused reports, for a complete operation, that the kernel did not permit some member to copy
// from another: the same at all members. Destinations are undefined then, and the caller must use
// another path.
func (g *Group) Refused() bool { return g.next == pulling && g.pull.refused }

// start starts an operation of blocks of n bytes. This member's block is at off in the source of
// each other member, or of the root.
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

// copyBlocks copies from one member after the other, from this member on.
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

// copyBlock copies this member's block from member m.
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
		if src := g.src[at:]; &dst[0] != &src[0] { // not in place, where the others are reading the block
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

// confirm publishes that this member no longer needs a source, and begins the meeting.
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

// meetCentre waits until all have confirmed. The last member reads the result lines for all.
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
