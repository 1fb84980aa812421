package nodecoll

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/segment"
)

// Blocks of more than PayloadBytes are not published: each member says in its arrival
// line where its source is, and the others copy from there straight into their
// destinations (Config.Pull). In the end all meet, each with a line that says whether
// that worked: so nobody has its source back while another reads it, and nobody
// completes with bytes of a member that gave up meanwhile.

// Whether the kernel has let a member copy.
const (
	pulled  = 0
	refused = 1
)

// Refused says of a complete operation that the kernel did not let some member copy
// from another: the same at all members. Destinations are undefined then, and the
// caller has another way.
func (g *Group) Refused() bool { return g.refused }

// startPull starts an operation of blocks of n bytes, of which this member's is at off
// in the source of each other, or of the root.
func (g *Group) startPull(off, n int) {
	that(g.pullOf != nil, "blocks of %d bytes without a way to copy them", n)
	g.large = large{off: off, bytes: n}
	g.start(pulling, nil)
}

// pull copies from one member after the other, this one first.
func (g *Group) pull() bool {
	n := len(g.members)
	for ; g.cursor < n; g.cursor++ {
		m := (g.me + g.cursor) % n
		if g.verb == scatter && m != g.root {
			continue
		}
		if m != g.me && !g.arrived(m) || !g.pullBlock(m) {
			return false
		}
	}
	g.confirm()
	return true
}

// pullBlock copies this member's block of member m.
func (g *Group) pullBlock(m int) bool {
	l := &g.large
	dst := g.dst
	if g.verb != scatter {
		dst = dst[m*l.bytes : (m+1)*l.bytes]
	}
	for l.pos < l.bytes {
		if g.budget <= 0 {
			return false
		}
		n := min(pullBytes, l.bytes-l.pos)
		g.pullPiece(m, dst[l.pos:l.pos+n])
		l.pos += n
		g.budget -= n
	}
	l.pos = 0
	return true
}

func (g *Group) pullPiece(m int, dst []byte) {
	at := g.large.off + g.large.pos
	if m == g.me {
		if src := g.src[at:]; &dst[0] != &src[0] { // in place: the others are reading it
			copy(dst, src)
		}
		return
	}
	if g.refused {
		return
	}
	from := binary.LittleEndian.Uint64(g.lines.body(g.lines.arrival(m, g.op))[inlineAt:])
	g.refused = !g.pullOf(m, from+uint64(at), dst)
}

// confirm says that this member needs no source any more, and meets the others.
func (g *Group) confirm() {
	word := uint64(pulled)
	if g.refused {
		word = refused
	}
	at := g.lines.result(g.me, g.op)
	g.lines.results.Reach(at)
	segment.Put64(g.lines.payloadWord(at), word)
	g.passOn()
	g.cursor = 0
	if g.central {
		g.phase = counting
		return
	}
	g.announce(All)
	g.phase = confirming
}

// confirmAll waits until all have confirmed.
func (g *Group) confirmAll() bool {
	for ; g.cursor < len(g.members); g.cursor++ {
		at := g.lines.result(g.cursor, g.op)
		if g.cursor != g.me && !g.stands(g.cursor, at) {
			return false
		}
		g.refused = g.refused || binary.LittleEndian.Uint64(g.lines.body(at)[inlineAt:]) != pulled
	}
	g.safe = g.op - 1
	g.releaseAll()
	g.finish()
	return true
}

// passOn publishes this member's second line: what this one has for others when it has
// got what it needed. Its payload stands there.
func (g *Group) passOn() {
	at := g.lines.result(g.me, g.op)
	segment.Put64(g.lines.whatWord(at), g.what)
	segment.Publish64(g.lines.word(at), g.members[g.me].base+uint64(g.op))
	segment.Soon(g.lines.word(g.lines.result(g.me, g.op+linesAhead)))
}
