// Package nodemem has the memory of agreements among processes of one node. It implements
// onenode.Memory in the blocks of a communicator in the arenas of its members.
//
// A communicator has two series of agreements, and up to onenode.Slots of each open at a time. All
// words that determine a decision are in the block of the communicator's first member, also after
// its death:
//
//	| part of the first member's block       | content                             | writer         |
//	| AgreementWords                         | a decision word of each agreement   | any, by a swap |
//	| AgreementLines: result                 | of those that are decided plainly   | any, the same  |
//	| AgreementLines: line of each member    | number, call, flag                  | that member    |
//	| AgreementLines: beside the lines       | short contributions and values      | that member    |
//	| ContributionPart (of the member's own) | long contributions and values       | that member    |
//
// The number of a line and the tag of a value identify the communicator among all that ever had the
// block. So a slow member of an earlier communicator never reads data of a later one.
package nodemem

import (
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A Node is one process's access to the memory of its node, for all its communicators.
type Node struct {
	Me, Procs int // this process, and the number of processes with memory
	// Block returns a part of the memory of a process for the communicator with a context
	// index.
	Block func(proc int, index uint32, part segment.Part) segment.Region
	// Published is set when this process publishes a contribution.
	Published bool
	// Touched are the groups of Teams for which this process has stored a word since the owner
	// last cleared the list. The other members must poll.
	Touched []*commstate.Group

	copied []byte // the latest result of Long or Value
}

// NewNode returns the access of process me.
func NewNode(me, procs int, block func(proc int, index uint32, part segment.Part) segment.Region) Node {
	return Node{Me: me, Procs: procs, Block: block, copied: make([]byte, 0, copiedBytes)}
}

// The layout in the first member's block: decision words and the revocation; then a line for the
// result of each agreement of both series; then for each agreement a line of each member, the rest
// of the contribution of each, and the value that each offers. So combining the contributions of 64
// members touches few pages instead of 64. Only an agreement that reports a death uses all of these
// parts. With few members they are in one page that other agreements have touched. Longer data is
// in the member's own block: the contribution, then the value.
const (
	// Of a line.
	lineSeq  = 0 // tag<<32 | number, stored last
	lineCall = 8
	lineFlag = 16
	lineLong = 24
	lineEnd  = 32
	// Of a value: its tag and length, then its bytes.
	valueHead = 16

	linesAt = segment.ResultBytes

	// Of most contributions and values that are read.
	copiedBytes = 2 << 10
)

// ownBytes returns the bytes of a member for one agreement in its own block.
func ownBytes(procs int) int {
	return segment.PartBytes(segment.ContributionPart, procs) / segment.AgreementsKept &^ (segment.Line - 1)
}

// Prepare tags the decision words of a block before any other process learns of the context index.
// So no process mistakes the words of an earlier communicator for its own.
func (n *Node) Prepare(index uint32) {
	r := n.Block(n.Me, index, segment.AgreementWords)
	for k := range segment.AgreementsKept {
		segment.Store64(r.Word(8*k), uint64(index)<<32)
	}
}

// A Series is the memory of one series of one communicator, for this member. It implements
// onenode.Memory.
type Series struct {
	n     *Node
	g     *commstate.Group
	part  int
	words segment.Region // of all series
	lines segment.Region // of all series
	// The bytes of an agreement in lines, cached because each read of a line needs them.
	slotBytes int
	// lines as words: a request to a Region for a word takes as long as a store to the word.
	lineWords []uint64

	// The word on which the latest poll waits, and its value at that poll.
	Awaits *uint64
	Stale  uint64
	none   uint64 // a word that never changes
}

// Open returns the memory of both series of a communicator during its creation.
func (n *Node) Open(g commstate.Group) *[2]Series {
	mem := new([2]Series)
	words := n.Block(g.Procs[0], g.Indices[0], segment.AgreementWords)
	lines := n.Block(g.Procs[0], g.Indices[0], segment.AgreementLines)
	for part := range mem {
		m := &mem[part]
		m.n, m.g, m.part, m.words, m.lines = n, &g, part, words, lines
		m.lineWords = lines.Words(0, lines.Size()/8)
		m.slotBytes = n.Procs * segment.AgreementBytes(n.Procs)
		m.Awaits = &m.none
	}
	return mem
}

// place returns the number of an agreement's place among those of both series.
func (m *Series) place(slot int) int { return m.part*onenode.Slots + slot }

// line returns the offset of the line of a member. The offset is the same for every communicator of
// the block, so a word that is read as the number of a line was never written as other data.
func (m *Series) line(member, slot int) int {
	return m.slotAt(slot) + member*segment.Line
}

// slotAt returns the offset of the lines of an agreement and of the data after them.
func (m *Series) slotAt(slot int) int {
	return linesAt + m.place(slot)*m.slotBytes
}

// long returns the n bytes of a contribution that are not in its line.
func (m *Series) long(member, slot, n int) []byte {
	if n > segment.ContributionBytes {
		return m.own(member, slot).Bytes(0, n)
	}
	at := m.slotAt(slot) + m.n.Procs*segment.Line + member*segment.ContributionBytes
	return m.lines.Bytes(at, n)
}

// value returns the region in which a member offers a value.
func (m *Series) value(member, slot int) segment.Region {
	size := segment.ValueBytes(m.n.Procs)
	at := m.slotAt(slot) + m.n.Procs*(segment.Line+segment.ContributionBytes) + member*size
	return m.lines.Sub(at, size)
}

// Result returns the words for the result of an agreement that was decided plainly: its number,
// stored last, and the flag. Each member that sees all lines may write them; all write the same
// values.
func (m *Series) Result(seq uint64) (number, flag *uint64) {
	at := m.place(int(seq%onenode.Slots)) * (segment.Line / 8)
	return &m.lineWords[at], &m.lineWords[at+1]
}

// own returns the region of a member for an agreement in its own block.
func (m *Series) own(member, slot int) segment.Region {
	size := ownBytes(m.n.Procs)
	return m.n.Block(m.g.Procs[member], m.g.Indices[member], segment.ContributionPart).Sub(m.place(slot)*size, size)
}

// longValue returns the region in own for a value that does not fit beside the lines.
func (m *Series) longValue(member, slot int) segment.Region {
	s, at := m.own(member, slot), (onenode.LongMax(m.n.Procs)+segment.Line-1)&^(segment.Line-1)
	return s.Sub(at, s.Size()-at)
}

// Number returns the number of a line with a contribution. It contains the index of the first
// member, which has the block of the line, and so identifies the communicator among all of that
// block.
func (m *Series) Number(seq uint64) uint64 {
	return uint64(m.g.Indices[0])<<32 | uint64(uint32(seq))
}

// Publish implements onenode.Memory.
func (m *Series) Publish(slot int, seq uint64, l onenode.Line, long []byte) {
	at := m.line(m.g.Me, slot)
	w := m.lineWords[at/8:][:lineEnd/8]
	word := &w[lineSeq/8]
	if segment.Load64(word)>>32 != uint64(m.g.Indices[0]) {
		// The line is of a closed communicator. A slow member of it may still poll, and must not
		// mistake the old number for that of the new line.
		segment.Store64(word, m.Number(0))
	}
	if len(long) > 0 {
		segment.Copy(m.long(m.g.Me, slot, len(long)), long)
	}
	segment.Put64(&w[lineCall/8], l.Call)
	segment.Put64(&w[lineFlag/8], l.Flag)
	segment.Put64(&w[lineLong/8], uint64(l.LongBytes))
	segment.Store64(word, m.Number(seq))
	m.n.Published = true
}

// Read implements onenode.Memory.
func (m *Series) Read(member, slot int, seq uint64) (l onenode.Line, there bool) {
	at, want := m.line(member, slot), m.Number(seq)
	w := m.lineWords[at/8:][:lineEnd/8]
	word := &w[lineSeq/8]
	if v := segment.Load64(word); v != want {
		m.Awaits, m.Stale = word, v
		return l, false
	}
	l.Call, l.Flag, l.LongBytes = w[lineCall/8], w[lineFlag/8], uint32(w[lineLong/8])
	return l, segment.Load64(word) == want
}

// Long implements onenode.Memory.
func (m *Series) Long(member, slot, n int) []byte {
	if n > onenode.LongMax(m.n.Procs) {
		return nil
	}
	word := m.lines.Word(m.line(member, slot))
	before := segment.Load64(word)
	m.n.copied = append(m.n.copied[:0], m.long(member, slot, n)...)
	if before>>32 != uint64(m.g.Indices[0]) || segment.Load64(word) != before {
		return nil
	}
	return m.n.copied
}

// Offer implements onenode.Memory.
func (m *Series) Offer(slot int, value []byte) {
	s := m.value(m.g.Me, slot)
	if len(value) > s.Size()-valueHead {
		writeValue(m.longValue(m.g.Me, slot), m.g.Indices[m.g.Me], value)
	}
	writeValue(s, m.g.Indices[0], value)
}

// writeValue writes a value, or only the length of a value that is too long for its place. The tag,
// stored last, identifies the communicator among all that ever had the block.
func writeValue(s segment.Region, index uint32, value []byte) {
	segment.Store64(s.Word(0), 0)
	if len(value) <= s.Size()-valueHead {
		segment.Copy(s.Bytes(valueHead, len(value)), value)
	}
	segment.Store64(s.Word(8), uint64(len(value)))
	segment.Store64(s.Word(0), uint64(index)+1)
}

// Value implements onenode.Memory.
func (m *Series) Value(member, slot int) []byte {
	b, long := m.readValue(m.value(member, slot), m.g.Indices[0])
	if long {
		b, _ = m.readValue(m.longValue(member, slot), m.g.Indices[member])
	}
	return b
}

// readValue reads the value that writeValue wrote. It returns nil for a value of another
// communicator, and for one that is too long for its place.
func (m *Series) readValue(s segment.Region, index uint32) (b []byte, long bool) {
	tag, n := uint64(index)+1, segment.Load64(s.Word(8))
	if segment.Load64(s.Word(0)) != tag {
		return nil, false
	}
	if n > uint64(s.Size()-valueHead) {
		return nil, true
	}
	m.n.copied = append(m.n.copied[:0], s.Bytes(valueHead, int(n))...)
	if segment.Load64(s.Word(0)) != tag {
		return nil, false
	}
	return m.n.copied, false
}

// Word implements onenode.Memory.
func (m *Series) Word(slot int) uint64 {
	return segment.Load64(m.words.Word(8 * m.place(slot)))
}

// Swap implements onenode.Memory.
func (m *Series) Swap(slot int, old, new uint64) bool {
	return segment.CompareAndSwap64(m.words.Word(8*m.place(slot)), old, new)
}

// Moved reports whether the word on which the latest poll waits has changed.
func (m *Series) Moved() bool {
	return m.Awaits == nil || segment.Load64(m.Awaits) != m.Stale
}

// Forget makes Moved return true until the next poll.
func (m *Series) Forget() { m.Awaits = nil }

// Settle ends the effect of Forget in a series without open agreements.
func (m *Series) Settle() {
	if m.Awaits == nil {
		m.Rest()
	}
}

// Rest records that the series waits for no word.
func (m *Series) Rest() { m.Awaits, m.Stale = &m.none, 0 }
