package segment

import (
	"fmt"
	"sync"
)

// Blocks is how many communicators of one process can have a block of its arena at the same time. A
// communicator's context index determines its block, so members need no message: see BlockOf.
const Blocks = 63

// BlockOf returns the number of the block that belongs to a context index, or
// -1 for an index without one.
func BlockOf(index uint32) int {
	if b := int(index % (Blocks + 1)); b < Blocks {
		return b
	}
	return -1
}

// Part names a part of a block.
type Part int

// The parts of a block. The first member's block has the words that all members swap or write, and
// the lines of all members, each written by one member, for agreements and for collectives. These
// lie together, so that a new communicator costs each member a page or two and not one for each
// other member. Each member's own block has the contributions and values that do not fit there, and
// the bytes that collectives move.
//
// The same part of all blocks lies together, and the words of several blocks share a page. Where
// nothing near has been touched yet, a page fault also allocates a table of pages, which takes 90
// us on some virtual machines.
const (
	AgreementWords Part = iota
	AgreementLines
	CollectiveLines
	ContributionPart
	DataPart
	parts
)

// Sizes.
//
//   - Words: the decision words of all agreements that are kept, and the revocation word of the
//     communicator.
//   - Lines of agreements: one line for the result of each agreement. Then, for each agreement and
//     process, a line, the room for most contributions, and the room for most values.
//   - Collectives: lines and data of each member.
const (
	AgreementsKept    = 64
	WordBytes         = 8 * AgreementsKept
	RevocationBytes   = Line
	ResultBytes       = Line * AgreementsKept
	ContributionBytes = 2 * Line
	LinesCollective   = 36 << 10 // of each member; the part has one more page
	DataCollective    = 3268 << 10
)

// ValueBytes returns the largest size of a value that is stored beside the lines, on a node of the
// given number of processes.
func ValueBytes(procs int) int { return min(roundUp(Line+8*procs, Line), 8*Line) }

// AgreementBytes returns the bytes of a member for one agreement in the first member's block: its
// line, the room for most contributions, and the room for most values.
func AgreementBytes(procs int) int { return Line + ContributionBytes + ValueBytes(procs) }

// PartBytes returns the size of a part, for a node of the given number of processes. The memory is
// sparse: only used pages exist.
func PartBytes(part Part, procs int) int {
	switch part {
	case AgreementWords:
		return WordBytes + RevocationBytes
	case AgreementLines:
		return roundUp(ResultBytes+AgreementsKept*AgreementBytes(procs)*procs, 4<<10)
	case CollectiveLines:
		return roundUp(LinesCollective*procs+4<<10, 4<<10)
	case ContributionPart:
		return roundUp(AgreementsKept*(1<<10+32*procs), 4<<10)
	default:
		return DataCollective
	}
}

// partsBytes returns the size of a part of all blocks.
func partsBytes(part Part, procs int) int { return roundUp(Blocks*PartBytes(part, procs), 4<<10) }

func blocksBytes(procs int) int {
	all := 0
	for p := range parts {
		all += partsBytes(p, procs)
	}
	return all
}

// Block returns a part of the memory of a communicator in this arena.
func (a *Arena) Block(number int, part Part) Region {
	if number < 0 || number >= Blocks {
		panic(fmt.Sprintf("goulfm: shared memory: block %d of %d", number, Blocks))
	}
	size := PartBytes(part, a.procs)
	if a.heap != nil {
		return Region{m: a.heap.part(number, part, size), size: size}
	}
	off := blocksOffset(a.procs) + number*size
	for p := range part {
		off += partsBytes(p, a.procs)
	}
	return Region{m: a.m, off: off, size: size}
}

// heapBlocks are the blocks and rings of an arena of Go memory, allocated at their first use: Go
// has no sparse memory.
type heapBlocks struct {
	mu      sync.Mutex
	parts   map[[2]int]Memory
	extents []Memory // rings and payloads; the i-th begins at offset (i+1) << extentBits
}

// extentBits are the bits of an offset within an extent, more than any ring has bytes.
const extentBits = 20

// add makes an extent, and returns its offset.
func (h *heapBlocks) add(size int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.extents = append(h.extents, Heap(size))
	return len(h.extents) << extentBits
}

// extent returns the extent at an offset, and the place in the extent; the empty Memory: the extent
// has fewer bytes.
func (h *heapBlocks) extent(off uint64, size int) (m Memory, at int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, at := off>>extentBits, int(off&(1<<extentBits-1))
	if i == 0 || i > uint64(len(h.extents)) || at > h.extents[i-1].Size()-size {
		return Memory{}, 0
	}
	return h.extents[i-1], at
}

func (h *heapBlocks) part(number int, part Part, size int) Memory {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := [2]int{number, int(part)}
	m, ok := h.parts[key]
	if !ok {
		m = Heap(size)
		if h.parts == nil {
			h.parts = map[[2]int]Memory{}
		}
		h.parts[key] = m
	}
	return m
}

// A Region is a stretch of shared memory, aligned to a Line.
type Region struct {
	m    Memory
	off  int
	size int
}

// HeapRegion returns a zeroed Region of Go memory, for tests.
func HeapRegion(size int) Region {
	size = roundUp(size, Line)
	return Region{m: Heap(size), size: size}
}

// Size returns the length in bytes.
func (r Region) Size() int { return r.size }

// Sub returns size bytes of the region from off on; off is a multiple of a Line.
func (r Region) Sub(off, size int) Region {
	r.check(off, size, Line)
	return Region{m: r.m, off: r.off + off, size: size}
}

// Word returns the 64-bit word at off, which is a multiple of 8.
func (r Region) Word(off int) *uint64 {
	r.check(off, 8, 8)
	return r.m.word64(r.off + off)
}

// Words returns n 64-bit words at off, which is a multiple of 8.
func (r Region) Words(off, n int) []uint64 {
	r.check(off, 8*n, 8)
	return r.m.words64(r.off+off, n)
}

// Bytes returns n bytes at off.
func (r Region) Bytes(off, n int) []byte {
	r.check(off, n, 1)
	return r.m.slice(r.off+off, n)
}

func (r Region) check(off, n, align int) {
	if off < 0 || n < 0 || off > r.size-n || off%align != 0 {
		panic(fmt.Sprintf("goulfm: shared memory: %d bytes at %d in a region of %d bytes", n, off, r.size))
	}
}
