package nodecoll

import (
	"encoding/binary"
	"fmt"

	"github.com/goulfm/goulfm/internal/segment"
)

// What a Group needs of each member, in bytes.
const (
	LinesBytes = 2 << 10
	DataBytes  = 1 << 20
)

const (
	// slots is the reuse distance, in operations, of everything that is kept per
	// slot; announceEvery, which is less, see announceArrival.
	slots         = 8
	announceEvery = 4
	// stride keeps words of different writers or different purpose two lines
	// apart: many processors fetch lines in pairs.
	stride = 2 * segment.Line

	// An arrival line: sequence word, then the body: what, payload.
	bodyBytes = segment.Line - 8
	inlineAt  = 8
	inline    = bodyBytes - inlineAt // payload bytes that fit the line

	// slotBytes is the payload that fits a slot of the data region.
	slotBytes = 16 << 10
	// areaAt is where the area of the large algorithms begins in it.
	areaAt    = slots * slotBytes
	areaBytes = DataBytes - areaAt

	chunkBytesMax     = 256 << 10 // of a reduction: two of it and two slices fit the area
	ringChunkBytesMax = 64 << 10
	blockBytes        = 8 << 10 // stays in the first-level cache with its result

	// workBytes is what one Advance copies and reduces before it returns.
	workBytes = 128 << 10
)

// The lines of a member's region. The last three are member 0's alone, and of
// them count and release have several writers.
const (
	stepsLine   = slots
	introLine   = slots + 1
	countLine   = slots + 2
	releaseLine = slots + 3
)

// A cell is one arrival slot of one member.
type cell struct {
	seq  *uint64 // base + operation, stored last
	body []byte  // what (8), payload
}

func (c *cell) what() uint64 { return binary.LittleEndian.Uint64(c.body) }

// A member is what this rank knows of one member.
type member struct {
	base  uint64
	cells [slots]cell
	steps *uint64 // counts the steps of large operations, for ever
	data  []byte  // nil until first needed

	left    int64  // it has left this operation and all before it: a lower bound
	started int64  // the operation whose arrival line gave start
	start   uint64 // *steps when it entered operation started
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
	// Lines holds LinesBytes of each member, mapped.
	Lines []segment.Region
	// Data returns DataBytes of a member. It is asked for when first needed, once
	// for each member.
	Data func(member int) segment.Region
	// Base is, per member, what its sequence words start from. A region may have
	// been another group's before: then Base[m] is at least that group's, plus the
	// operations that any of its members started, plus one. (Generation << 40 is.)
	Base []uint64
	// Chunk is the bytes per step of the large algorithms; 0: a default for the
	// regime.
	Chunk int
}

func (c *Config) check() {
	that(c.N >= 1 && c.N <= releaserMask && c.Me >= 0 && c.Me < c.N, "member %d of %d", c.Me, c.N)
	that(len(c.Lines) == c.N && len(c.Base) == c.N, "%d members with %d regions and %d bases", c.N, len(c.Lines), len(c.Base))
	that(c.Chunk >= 0, "chunk of %d bytes", c.Chunk)
	for m, r := range c.Lines {
		that(r.Size() >= LinesBytes, "lines of member %d are %d bytes", m, r.Size())
	}
}

// that panics unless a program that uses this package is correct. What a peer
// wrote is never asserted.
func that(cond bool, format string, args ...any) {
	if !cond {
		panic("goulfm: collectives in shared memory: " + fmt.Sprintf(format, args...))
	}
}

func open(lines segment.Region, base uint64) member {
	m := member{base: base, steps: lines.Word(stepsLine * stride)}
	for s := range m.cells {
		m.cells[s] = cell{seq: lines.Word(s * stride), body: lines.Bytes(s*stride+8, bodyBytes)}
	}
	return m
}

// bytes returns the data region of member m.
func (g *Group) bytes(m int) []byte {
	p := &g.members[m]
	if p.data == nil {
		p.data = g.dataOf(m).Bytes(0, DataBytes)
	}
	return p.data
}

// payload returns where member m's payload of the current operation stands: in
// its line if it fits, else in a slot of its data region.
func (g *Group) payload(m int) []byte {
	if g.size <= inline {
		return g.members[m].cells[g.slot].body[inlineAt : inlineAt+g.size]
	}
	at := g.slot * slotBytes
	return g.bytes(m)[at : at+g.size]
}

// area returns n bytes at off in the area of the large algorithms of member m.
func (g *Group) area(m, off, n int) []byte {
	return g.bytes(m)[areaAt+off : areaAt+off+n]
}
