package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A memory holds this member's mappings of the data regions of all members. A region is opened at
// its first use; most operations need none.
type memory struct {
	of      func(member int) segment.Region // Config.Data
	members int
	ahead   bool         // a ring uses all of the area: its pages are populated ahead
	regions []dataRegion // nil until the first use
	scratch []byte       // see scratchBlock
}

// A dataRegion is the data of one member.
type dataRegion struct {
	bytes []byte
	met   segment.Ahead // pages of meetingSlot
	ring  segment.Ahead // pages of the area, which rings use from the front
}

// bytesOf returns the data region of member m.
func (d *memory) bytesOf(m int) []byte {
	if d.regions == nil {
		d.regions = make([]dataRegion, d.members)
	}
	p := &d.regions[m]
	if p.bytes == nil {
		data := d.of(m)
		p.bytes, p.met = data.Bytes(0, DataBytes), data.Sub(metShortAt, areaAt-metShortAt).Ahead(areaAt-metShortAt)
		p.ring = data.Sub(areaAt, areaBytes).Ahead(ringChunkMutual)
	}
	return p.bytes
}

// meetingSlot returns n bytes at a slot of member m, for a short or middle payload of an operation
// in which all meet.
func (d *memory) meetingSlot(m, at, n int) []byte {
	data := d.bytesOf(m)
	d.regions[m].met.Reach(at - metShortAt)
	return data[at : at+n]
}

// areaOf returns n bytes at off in the area of member m.
func (d *memory) areaOf(m, off, n int) []byte {
	data := d.bytesOf(m)[areaAt:]
	if d.ahead {
		d.regions[m].ring.Cover(off + n)
	}
	return data[off : off+n]
}

// scratchBlock returns blockBytes of private memory, for operations that have no destination to
// reduce into.
func (d *memory) scratchBlock() []byte {
	if d.scratch == nil {
		d.scratch = make([]byte, blockBytes)
	}
	return d.scratch
}

// payload returns the memory of member m's payload of the current operation: in the line if the
// payload fits, else in a slot of m's data region.
func (g *Group) payload(m int) []byte {
	if g.size <= g.lines.inline {
		return g.lines.body(g.lines.arrival(m, g.op))[inlineAt : inlineAt+g.size]
	}
	return g.slotOf(m)
}

// slotOf returns the slot of the current operation in the data region of member m.
func (g *Group) slotOf(m int) []byte {
	var at int
	switch {
	case g.isWide():
		return g.memory.areaOf(m, g.wideAt(), g.size)
	case g.verb.meets() && g.size <= shortBytes:
		return g.memory.meetingSlot(m, metShortAt+int(g.op%metSlots)*shortBytes, g.size)
	case g.verb.meets() && g.size <= middleBytes:
		return g.memory.meetingSlot(m, metMiddleAt+int(g.op%metSlots)*middleBytes, g.size)
	case g.verb.meets():
		at = metAt + int(g.op%metSlots)*longBytes
	case g.size <= shortBytes:
		at = lineSlot(g.op) * shortBytes
	case g.size <= middleBytes:
		at = middleAt + int(g.op%middleSlots)*middleBytes
	default:
		at = longAt + int(g.op%longSlots)*longBytes
	}
	return g.memory.bytesOf(m)[at : at+g.size]
}

// An area holds the last operations in which members read the areas of others.
type area struct {
	// The last operations in which others read this member's area: a ring, the buffers of a
	// reduction, a wide payload and its length.
	ringOp, reductionOp, wideOp int64
	wideSize                    int

	anyOp  int64 // the last operation in which members read the area of any other member
	ringAt int   // the beginning of the next ring, in bytes
	first  int   // the beginning of the open ring, in chunks, as published for the others
}

// lastRead returns the last operation in which others read this member's area.
func (a *area) lastRead() int64 { return max(a.ringOp, a.reductionOp, a.wideOp) }
