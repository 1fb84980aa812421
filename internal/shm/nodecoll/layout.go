package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// DataBytes is the length of each member's data region.
const DataBytes = segment.DataCollective

const (
	// slots is the reuse distance of slots, in operations, and a power of two. A member may be this
	// number of operations ahead of the others. If ranks outnumber cores, a member makes this
	// number of operations in a time slice.
	slots = 128
	// stride keeps words of different writers or different purpose two lines apart: many processors
	// fetch lines in pairs.
	stride = 2 * segment.Line

	// An arrival line: sequence word, then the body: what, payload. If the distance between lines
	// of different writers is two lines, the second line belongs to the first.
	inlineAt = 8
	headAt   = 8 + inlineAt

	// The payload of an operation by steps: the owner's steps word at entry, and the first place of
	// the ring in the owner's area.
	ringFirstAt = inlineAt + 8

	// Payloads that do not fit a line: as many slots as lines for short payloads, fewer for long
	// payloads, which take long anyway, and a few for operations in which all wait for all, because
	// no member can be far ahead there. Fewer slots cause fewer page faults at the first read of a
	// page. The number of the latter is four: a member in one of these operations has left the
	// operation before, and a member announces its arrival to all after half the number of slots.
	shortBytes  = 1 << 10
	middleBytes = 4 << 10
	middleSlots = 64
	longBytes   = 64 << 10
	longSlots   = 8
	metSlots    = 4
	middleAt    = slots * shortBytes
	longAt      = middleAt + middleSlots*middleBytes
	metAt       = longAt + longSlots*longBytes
	// The short and middle slots of these operations lie together, in five pages that are populated
	// at once. Otherwise each operation of 64 ranks in which all read from all and touch new pages
	// would have 4,000 page faults.
	metShortAt  = metAt + metSlots*longBytes
	metMiddleAt = metShortAt + metSlots*shortBytes
	// areaAt is the beginning of the area of the large algorithms.
	areaAt    = metMiddleAt + metSlots*middleBytes
	areaBytes = DataBytes - areaAt
	// sharedAreaBytes is the part of the area that is used if ranks share cores: more would be
	// cold.
	sharedAreaBytes = 880 << 10

	chunkBytesMax     = 256 << 10 // of a reduction: two chunks and two slices fit the area
	ringChunkBytesMax = 64 << 10
	blockBytes        = 8 << 10 // stays in the first-level cache with its result

	// workBytes is the work of one Advance: the bytes that it copies and reduces before it returns.
	// The kernel copies in pieces of pullBytes, because each piece is a system call of a few
	// microseconds.
	workBytes = 128 << 10
	pullBytes = segment.RemoteMax
)

// PayloadBytes is the length of the longest payload that a member can publish whole: see the
// comments of the operations.
const PayloadBytes = longBytes

// WholeBytes is the length up to which a payload is never pulled: a copy by the kernel costs
// microseconds. A longer payload is pulled if every rank has a core, because it would be copied
// twice. If ranks share cores, only payloads above PayloadBytes are pulled.
const WholeBytes = 16 << 10

// The words of member 0 come first, then the steps of each member, then two lines of each for every
// slot. The lines of one slot lie together: an operation touches few pages, and a member that polls
// all lines reads them in sequence.
const (
	introAt   = 0 * stride
	countAt   = 1 * stride
	releaseAt = 2 * stride
	stepsAt   = 3 * stride
)

// unfinished marks the sequence word of an arrival line while its owner overwrites the line of an
// operation in which other members may still be. The others accept the line neither for the old
// operation nor for the new one, although its owner has entered the new one.
const (
	unfinished = 1 << 63
	opsMax     = 1 << 40
)

// LinesBytes is the length of the lines of a Group of n members.
func LinesBytes(n int) int { return linesAt(n) + 2*slots*n*lineStride(n) }

func linesAt(n int) int { return stepsAt + n*stride }

// lineStride is the distance between the lines of neighbours.
func lineStride(n int) int {
	if n <= mutualMembersMax {
		return stride
	}
	return segment.Line // if a member reads all lines, fetching lines in pairs helps
}

// inlineOf is the number of payload bytes that fit an arrival line.
func inlineOf(n int) int { return lineStride(n) - headAt }

// lines is Config.Lines as words and as bytes.
type lines struct {
	words []uint64
	bytes []byte
	// first is the place of the first line, stride the distance between lines.
	first, stride, members int
	inline                 int // payload bytes that fit an arrival line
	// arrivals and results remember the pages that were populated ahead.
	arrivals, results segment.Ahead
}

func openLines(c *Config) lines {
	size := LinesBytes(c.N)
	ahead := c.Lines.Ahead(c.N * lineStride(c.N))
	return lines{words: c.Lines.Words(0, size/8), bytes: c.Lines.Bytes(0, size), first: linesAt(c.N), stride: lineStride(c.N), members: c.N,
		inline: inlineOf(c.N), arrivals: ahead, results: ahead}
}

func (l *lines) word(at int) *uint64 { return &l.words[uint(at)/8] }

// arrival returns the place of member m's arrival line of an operation.
func (l *lines) arrival(m int, op int64) int { return l.line(m, lineSlot(op)) }

// result returns the place of member m's result line of an operation.
func (l *lines) result(m int, op int64) int { return l.line(m, slots+lineSlot(op)) }

// lineSlot returns the slot of an operation. It uses a mask because it is called often.
func lineSlot(op int64) int { return int(op & (slots - 1)) }

func (l *lines) line(m, slot int) int { return l.first + (slot*l.members+m)*l.stride }

// body returns the bytes of a line behind its sequence word.
func (l *lines) body(at int) []byte { return l.bytes[at+8 : at+l.stride] }

// whatWord and payloadWord are the first words of the body.
func (l *lines) whatWord(at int) *uint64    { return l.word(at + 8) }
func (l *lines) payloadWord(at int) *uint64 { return l.word(at + 8 + inlineAt) }

// ringFirstWord is the second word of the payload of an operation by steps.
func (l *lines) ringFirstWord(at int) *uint64 { return l.word(at + 8 + ringFirstAt) }

// The method what returns the call in a line.
func (l *lines) what(at int) uint64 { return segment.Load64(l.whatWord(at)) }
