package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// DataBytes is what a Group needs of data of each member.
const DataBytes = segment.DataCollective

const (
	// slots is the reuse distance, in operations, of what is kept per slot: so far
	// ahead of the others a member may be, and where ranks outnumber cores, so many
	// operations it makes in a time slice. A power of two.
	slots = 128
	// stride keeps words of different writers or different purpose two lines
	// apart: many processors fetch lines in pairs.
	stride = 2 * segment.Line

	// An arrival line: sequence word, then the body: what, payload. Where lines of
	// different writers are two apart the second one belongs to the first.
	inlineAt = 8
	headAt   = 8 + inlineAt

	// The payload of an operation that goes by steps: where the steps word of the line's owner
	// stood, and the place in its area where its ring begins.
	ringFirstAt = inlineAt + 8

	// Payloads that do not fit a line: as many slots as lines for short ones, fewer
	// for those that take long anyway, and a few for operations in which all wait for
	// all, so that nobody can be far ahead: whoever reads a page for the first time has
	// a page fault. Four of these: a member in one has left the one before; of more than
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
// few pages, and a member that looks at all lines reads them one behind the other.
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
	inline                 int // payload bytes that fit an arrival line
	// arrivals and results are what of the pages of lines was asked for.
	arrivals, results segment.Ahead
}

func openLines(c *Config) lines {
	size := LinesBytes(c.N)
	ahead := c.Lines.Ahead(c.N * lineStride(c.N))
	return lines{words: c.Lines.Words(0, size/8), bytes: c.Lines.Bytes(0, size), first: linesAt(c.N), stride: lineStride(c.N), members: c.N,
		inline: inlineOf(c.N), arrivals: ahead, results: ahead}
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

// ringFirstWord is the second word of the payload of an operation that goes by steps.
func (l *lines) ringFirstWord(at int) *uint64 { return l.word(at + 8 + ringFirstAt) }

// what returns the call that stands in a line.
func (l *lines) what(at int) uint64 { return segment.Load64(l.whatWord(at)) }
