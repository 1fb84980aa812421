package nodecoll

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/segment"
)

// DataBytes is what a Group needs of data of each member.
const DataBytes = segment.DataCollective

const (
	// slots is the reuse distance, in operations, of what is kept per slot: so far
	// ahead of the others a member may be, and where ranks outnumber cores, so many
	// operations it makes in a turn. A power of two.
	slots = 128
	// stride keeps words of different writers or different purpose two lines
	// apart: many processors fetch lines in pairs.
	stride = 2 * segment.Line

	// An arrival line: sequence word, then the body: what, payload. Where lines of
	// different writers are two apart the second one belongs to the first.
	inlineAt = 8
	headAt   = 8 + inlineAt

	// Payloads that do not fit a line: as many slots as lines for short ones, fewer
	// for those that take long anyway, and a few for operations in which all wait for
	// all, so that nobody can be far ahead: whoever reads a page for the first time has
	// a page fault. Four of these: who is in one has left the one before, and of more than
	// half as many its arrival would be announced to all.
	shortBytes  = 1 << 10
	middleBytes = 4 << 10
	middleSlots = 64
	longBytes   = 64 << 10
	longSlots   = 8
	metSlots    = 4
	middleAt    = slots * shortBytes
	longAt      = middleAt + middleSlots*middleBytes
	metAt       = longAt + longSlots*longBytes
	// All but long ones of these lie together, in five pages that are asked for at once:
	// where each reads what all others have, each operation of 64 ranks that finds pages
	// for the first time has 4,000 page faults.
	metShortAt  = metAt + metSlots*longBytes
	metMiddleAt = metShortAt + metSlots*shortBytes
	// areaAt is where the area of the large algorithms begins.
	areaAt    = metMiddleAt + metSlots*middleBytes
	areaBytes = DataBytes - areaAt
	// sharedAreaBytes is what is used of it where ranks share cores: more would be cold.
	sharedAreaBytes = 880 << 10

	chunkBytesMax     = 256 << 10 // of a reduction: two of it and two slices fit the area
	ringChunkBytesMax = 64 << 10
	blockBytes        = 8 << 10 // stays in the first-level cache with its result

	// workBytes is what one Advance copies and reduces before it returns. Of what the
	// kernel copies it is pullBytes: each piece is a system call of some microseconds.
	workBytes = 128 << 10
	pullBytes = segment.RemoteMax
)

// PayloadBytes is the longest payload that a member can publish whole: see the
// operations that say so.
const PayloadBytes = longBytes

// WholeBytes is up to what size a payload is never pulled: a copy by the kernel costs
// microseconds. A longer one is, where every rank has a core, because it would be copied
// twice; where the last to arrive works for all it is only above PayloadBytes.
const WholeBytes = 16 << 10

// The words of member 0 come first, then the steps of each member, then two lines of
// each for every slot. What belongs to one slot lies together: an operation touches
// few pages, and who looks at all lines reads them one behind the other.
const (
	introAt   = 0 * stride
	countAt   = 1 * stride
	releaseAt = 2 * stride
	stepsAt   = 3 * stride
)

// unfinished is in the sequence word of an arrival line that is being written over one of
// an operation in which members may still be: they do not take it for that, nor for a line
// of the new operation, which its owner has entered all the same.
const (
	unfinished = 1 << 63
	opsMax     = 1 << 40
)

// LinesBytes is what a Group of n members needs of lines.
func LinesBytes(n int) int { return linesAt(n) + 2*slots*n*lineStride(n) }

func linesAt(n int) int { return stepsAt + n*stride }

// lineStride is how far apart the lines of neighbours are.
func lineStride(n int) int {
	if n <= mutualMembersMax {
		return stride
	}
	return segment.Line // where everybody reads all, pairs of lines are welcome
}

// inlineOf is how many bytes of payload fit an arrival line.
func inlineOf(n int) int { return lineStride(n) - headAt }

// lines are the memory of the same name, as words and as bytes.
type lines struct {
	words []uint64
	bytes []byte
	// first is where the first line stands, stride how far apart they are.
	first, stride, members int
	// arrivals and results are what of the pages of lines was asked for.
	arrivals, results segment.Ahead
}

func openLines(c *Config) lines {
	size := LinesBytes(c.N)
	ahead := c.Lines.Ahead(c.N * lineStride(c.N))
	return lines{words: c.Lines.Words(0, size/8), bytes: c.Lines.Bytes(0, size), first: linesAt(c.N), stride: lineStride(c.N), members: c.N,
		arrivals: ahead, results: ahead}
}

func (l *lines) word(at int) *uint64 { return &l.words[uint(at)/8] }

// arrival returns where the line of member m for an operation stands.
func (l *lines) arrival(m int, op int64) int { return l.line(m, lineSlot(op)) }

// result returns where the line stands with what m has for others once it has got what it
// needed.
func (l *lines) result(m int, op int64) int { return l.line(m, slots+lineSlot(op)) }

// lineSlot returns the slot of an operation: with a mask, it is asked often.
func lineSlot(op int64) int { return int(op & (slots - 1)) }

func (l *lines) line(m, slot int) int { return l.first + (slot*l.members+m)*l.stride }

// body returns what a line has behind its sequence word.
func (l *lines) body(at int) []byte { return l.bytes[at+8 : at+l.stride] }

// whatWord and payloadWord are the first words of the body.
func (l *lines) whatWord(at int) *uint64    { return l.word(at + 8) }
func (l *lines) payloadWord(at int) *uint64 { return l.word(at + 8 + inlineAt) }

// what returns the call that stands in a line.
func (l *lines) what(at int) uint64 { return segment.Load64(l.whatWord(at)) }

// A member is what this rank knows of one member.
type member struct {
	base  uint64
	steps *uint64 // counts the steps of large operations, for ever

	left    int64  // it has left this operation and all before it: a lower bound
	started int64  // the operation whose arrival line gave start
	start   uint64 // *steps when it entered operation started
}

// A dataRegion is what this rank knows of the data region of one member. It is nothing until
// first needed, which most operations never do.
type dataRegion struct {
	bytes []byte
	met   segment.Ahead // of the pages that met returns
	ring  segment.Ahead // of those of the area, which rings go through from the front
}

// Config is what all members of a group agree on, and which of them this is.
// Everything but Me is the same at all of them.
type Config struct {
	// N members, 0 to N-1 in the order in which operands are reduced; this is Me.
	N, Me int
	// Mutual says that every rank has a core: each reads what each published.
	// Otherwise, and with more than 8 members, the last to arrive does the work
	// for all ("central"), so that a rank runs once per operation.
	Mutual bool
	// Lines holds LinesBytes, mapped.
	Lines segment.Region
	// Data returns DataBytes of a member. It is asked for when first needed, once
	// for each member.
	Data func(member int) segment.Region
	// Base is, per member, what its sequence words start from. A region may have
	// been another group's before: then Base[m] is at least that group's, plus the
	// operations that any of its members started, plus one. (Generation << 40 is.) With all
	// operations of this group, opsMax at most, they stay below 1 << 63.
	Base []uint64
	// Pull copies from an address in the memory of a member, and says whether the
	// kernel lets it: false ends the operation for all, see Refused. nil: blocks of more
	// than PayloadBytes must not come.
	Pull func(member int, addr uint64, dst []byte) bool
	// Chunk is the bytes per step of the large algorithms; 0: a default for the
	// regime.
	Chunk int
}

func (c *Config) check() {
	that(c.N >= 1 && c.N <= releaserMask && c.Me >= 0 && c.Me < c.N, "member %d of %d", c.Me, c.N)
	that(len(c.Base) == c.N, "%d members with %d bases", c.N, len(c.Base))
	for m, base := range c.Base {
		that(base < unfinished-opsMax, "base %x of member %d", base, m)
	}
	that(c.Chunk >= 0, "chunk of %d bytes", c.Chunk)
	that(c.Lines.Size() >= LinesBytes(c.N), "lines of %d bytes for %d members", c.Lines.Size(), c.N)
}

// that panics unless a program that uses this package is correct. What a peer
// wrote is never asserted.
func that(cond bool, format string, args ...any) {
	if !cond {
		panic("goulfm: collectives in shared memory: " + fmt.Sprintf(format, args...))
	}
}

// bytes returns the data region of member m.
func (g *Group) bytes(m int) []byte {
	if g.data == nil {
		g.data = make([]dataRegion, len(g.members))
	}
	p := &g.data[m]
	if p.bytes == nil {
		data := g.dataOf(m)
		p.bytes, p.met = data.Bytes(0, DataBytes), data.Sub(metShortAt, areaAt-metShortAt).Ahead(areaAt-metShortAt)
		p.ring = data.Sub(areaAt, areaBytes).Ahead(ringChunkMutual)
	}
	return p.bytes
}

// payload returns where member m's payload of the current operation stands: in
// its line if it fits, else in a slot of its data region.
func (g *Group) payload(m int) []byte {
	if g.size <= g.inline {
		return g.lines.body(g.lines.arrival(m, g.op))[inlineAt : inlineAt+g.size]
	}
	return g.slotOf(m)
}

// slotOf returns the slot of the current operation in the data region of member m.
func (g *Group) slotOf(m int) []byte {
	var at int
	switch {
	case g.wide():
		return g.area(m, g.wideAt(), g.size)
	case g.verb.meets() && g.size <= shortBytes:
		return g.met(m, metShortAt+int(g.op%metSlots)*shortBytes)
	case g.verb.meets() && g.size <= middleBytes:
		return g.met(m, metMiddleAt+int(g.op%metSlots)*middleBytes)
	case g.verb.meets():
		at = metAt + int(g.op%metSlots)*longBytes
	case g.size <= shortBytes:
		at = lineSlot(g.op) * shortBytes
	case g.size <= middleBytes:
		at = middleAt + int(g.op%middleSlots)*middleBytes
	default:
		at = longAt + int(g.op%longSlots)*longBytes
	}
	return g.bytes(m)[at : at+g.size]
}

// met returns a slot for a payload that is not long of an operation in which all meet.
func (g *Group) met(m, at int) []byte {
	data := g.bytes(m)
	g.data[m].met.Reach(at - metShortAt)
	return data[at : at+g.size]
}

// area returns n bytes at off in the area of the large algorithms of member m.
func (g *Group) area(m, off, n int) []byte {
	data := g.bytes(m)[areaAt:]
	if g.mutual {
		g.data[m].ring.Cover(off + n)
	}
	return data[off : off+n]
}
