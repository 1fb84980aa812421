package segment

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// Sizes of rings. Cells and payload bytes are powers of two.
const (
	CellBytes    = 64
	InlineBytes  = 40
	DataCells    = 128
	ControlCells = 32
	PayloadBytes = 64 << 10
	// LongBytes is the size of a payload ring for long payloads. An arena has LongRings of them,
	// for the first processes that receive long payloads. LongBytes is twice the size of a
	// second-level cache: when the producer writes a line again, the line has left the reader's own
	// cache for the cache that both share, which is faster to read from.
	LongBytes = 2 << 20
	LongRings = 16
)

// A Cell is one line of a ring, written by the ring's one producer. Seq is stored last and marks
// the rest as complete. Its value is the cell's position in the stream plus one. So a cell that has
// not been written in this round of the ring never looks ready, and nobody has to zero cells.
type Cell struct {
	Seq    uint64
	Word1  uint64
	Word2  uint64
	Inline [InlineBytes]byte
}

// SetWords writes the header words of a cell that is not published yet.
func (c *Cell) SetWords(word1, word2 uint64) {
	if failpoint.Counting {
		failpoint.Here()
	}
	c.Word1, c.Word2 = word1, word2
}

// SetInline writes the i-th word of the inline part of a cell that is not
// published yet, least significant byte first.
func (c *Cell) SetInline(i int, v uint64) {
	if failpoint.Counting {
		failpoint.Here()
	}
	binary.LittleEndian.PutUint64(c.Inline[8*i:], v)
}

// Kind distinguishes the two rings of a pair.
type Kind int

// The rings of a pair: control never sits behind data.
const (
	Data Kind = iota
	Control
	kinds
)

// A Ring is the single-producer single-consumer ring of one pair and kind, in
// the arena of its producer.
type Ring struct {
	// Producer's line.
	WantsRoom  *uint64 // not zero: the producer sleeps or will sleep until there is room
	payloadOff *uint64 // of the payload ring in the arena; 0: none yet
	longOff    *uint64 // of the ring for long payloads
	// Consumer's line.
	Head        *uint64 // cells consumed
	PayloadHead *uint64 // payload bytes freed
	LongHead    *uint64 // bytes of long payloads freed
	Credit      *uint64 // payload bytes that left, or never entered, the receiver's unexpected queue

	Cells []Cell
	arena *Arena
	pair  *pairMemory // nil at the consumer
}

// Arena is the memory of one process: its outgoing rings, its blocks of communicators, and the
// any-source bits that name the incoming rings with content.
type Arena struct {
	m     Memory
	procs int
	heap  *heapBlocks // of Go memory; nil: the blocks follow the rings

	// The owner's knowledge alone: the owner never reads these values back from memory where others
	// can write.
	next  int                 // first free byte
	longs int                 // rings for long payloads in use
	pairs map[int]*pairMemory // by place in the directory
}

// pairMemory is the memory of the rings to one slot, in the arena of their producer. The producer
// allocates the memory once: later processes in the slot get the same memory.
type pairMemory struct {
	ring    int
	payload int // 0: none yet
	long    int
}

// A directory entry is the offset of a ring, and the generation of its consumer.
const (
	entryBits = 40
	entryMask = 1<<entryBits - 1
)

func entryOf(off int, generation uint32) uint64 { return uint64(off) | uint64(generation)<<entryBits }

const (
	arenaBits = 1 * Line // bits of both kinds follow the header line
	ringHead  = 2 * Line // producer's and consumer's line
)

func bitLines(procs int) int { return roundUp((procs+63)/64*8, Line) / Line }

func dirOffset(procs int) int { return arenaBits + int(kinds)*bitLines(procs)*Line }

func heapOffset(procs int) int { return transfersOffset(procs) + Transfers*transferLines*Line }

func ringBytes(cells int) int { return ringHead + cells*CellBytes }

// ArenaBytes returns the size of an arena: room for rings to every process and for the blocks of
// communicators. The memory is sparse: only used pages exist.
func ArenaBytes(procs int) int { return blocksOffset(procs) + blocksBytes(procs) }

// ArenasBytes returns the size of the memory of all arenas, one behind the other.
func ArenasBytes(procs int) int { return procs * ArenaStride(procs) }

// ArenaStride is how far apart the arenas are.
func ArenaStride(procs int) int { return roundUp(ArenaBytes(procs), 1<<16) }

// HeapArena returns an arena of Go memory, for which there is no sparse allocation. Rings and
// blocks are allocated at their first use, and there are no rings for long payloads.
func HeapArena(procs int) *Arena {
	return &Arena{m: Heap(heapOffset(procs)), procs: procs, next: heapOffset(procs), longs: LongRings, heap: &heapBlocks{}}
}

func longOffset(procs int) int {
	rings := heapOffset(procs) + procs*(ringBytes(DataCells)+ringBytes(ControlCells)+PayloadBytes)
	return roundUp(rings, 1<<16)
}

func blocksOffset(procs int) int { return longOffset(procs) + LongRings*LongBytes }

// OpenArena returns the arena in m. Its owner passes fresh, all-zero memory.
func OpenArena(m Memory, procs int) (*Arena, error) {
	if m.Size() < ArenaBytes(procs) {
		return nil, fmt.Errorf("shared memory: an arena of %d bytes is too small for %d processes", m.Size(), procs)
	}
	return &Arena{m: m, procs: procs, next: heapOffset(procs)}, nil
}

// Bits are the any-source bits of the owner for one kind: bit p means that the ring from p may have
// content. Producers set bits, the owner clears them.
func (a *Arena) Bits(k Kind) []uint64 {
	return a.m.words64(arenaBits+int(k)*bitLines(a.procs)*Line, (a.procs+63)/64)
}

func (a *Arena) dir(k Kind, to int) *uint64 {
	return a.m.word64(dirOffset(a.procs) + (to*int(kinds)+int(k))*8)
}

// Find returns the ring from the owner to the process of this generation in slot to, or nil before
// the owner has opened the ring.
func (a *Arena) Find(k Kind, to int, generation uint32) (*Ring, error) {
	entry := Load64(a.dir(k, to))
	off := entry & entryMask
	if off == 0 || entry != entryOf(int(off), generation) {
		return nil, nil
	}
	if m, _ := a.locate(off, ringBytes(cellsOf(k))); off%Line != 0 || m.Size() == 0 {
		return nil, fmt.Errorf("shared memory: ring at offset %d of an arena of %d bytes", off, a.m.Size())
	}
	return a.ring(k, int(off)), nil
}

// Open makes the ring from the owner to the process of this generation in slot to. Only the owner
// calls Open, once for each process. If an earlier process of the slot had a ring, Open uses its
// memory again: nobody else reads there any more.
func (a *Arena) Open(k Kind, to int, generation uint32) *Ring {
	key := to*int(kinds) + int(k)
	pair := a.pairs[key]
	if pair == nil {
		pair = &pairMemory{ring: a.allocate(ringBytes(cellsOf(k)))}
		if a.pairs == nil {
			a.pairs = map[int]*pairMemory{}
		}
		a.pairs[key] = pair
	} else {
		a.zero(pair.ring, ringBytes(cellsOf(k)))
	}
	r := a.ring(k, pair.ring)
	r.pair = pair
	Store64(a.dir(k, to), entryOf(pair.ring, generation)) // a peer finds the ring only when the ring is ready
	return r
}

// locate returns the memory that holds size bytes at an offset of the arena, and the place in this
// memory; the empty Memory: the bytes are not in the arena.
func (a *Arena) locate(off uint64, size int) (m Memory, at int) {
	switch {
	case a.heap != nil:
		return a.heap.extent(off, size)
	case off > uint64(a.m.Size()-size):
		return Memory{}, 0
	}
	return a.m, int(off)
}

// zero clears memory that nobody else reads.
func (a *Arena) zero(off, size int) {
	m, at := a.locate(uint64(off), size)
	words := m.words64(at, size/8)
	for i := range words {
		Put64(&words[i], 0)
	}
}

func (a *Arena) allocate(size int) int {
	if a.heap != nil {
		return a.heap.add(size)
	}
	off := a.next
	a.next += roundUp(size, Line)
	return off // ArenaBytes has room for every ring once
}

func cellsOf(k Kind) int {
	if k == Control {
		return ControlCells
	}
	return DataCells
}

func (a *Arena) ring(k Kind, off int) *Ring {
	m, at := a.locate(uint64(off), ringBytes(cellsOf(k)))
	return &Ring{
		WantsRoom: m.word64(at), payloadOff: m.word64(at + 8), longOff: m.word64(at + 16),
		Head: m.word64(at + Line), PayloadHead: m.word64(at + Line + 8), Credit: m.word64(at + Line + 16), LongHead: m.word64(at + Line + 24),
		Cells: m.cells(at+ringHead, cellsOf(k)), arena: a,
	}
}

// Payload returns the payload ring, or nil before the producer has opened the ring.
func (r *Ring) Payload() ([]byte, error) {
	off, err := r.offset(r.payloadOff, PayloadBytes)
	if off == 0 {
		return nil, err
	}
	m, at := r.arena.locate(uint64(off), PayloadBytes)
	return m.slice(at, PayloadBytes), nil
}

// Long returns the ring for long payloads, or nil before the producer has opened the ring.
func (r *Ring) Long() (Region, error) {
	off, err := r.offset(r.longOff, LongBytes)
	if off == 0 {
		return Region{}, err
	}
	return Region{m: r.arena.m, off: off, size: LongBytes}, nil
}

// offset reads the place at which the producer has opened a ring; 0: none.
func (r *Ring) offset(word *uint64, size int) (int, error) {
	off := atomic.LoadUint64(word)
	if m, _ := r.arena.locate(off, size); off != 0 && m.Size() == 0 {
		return 0, fmt.Errorf("shared memory: payload at offset %d of an arena of %d bytes", off, r.arena.m.Size())
	}
	return int(off), nil
}

// OpenPayload makes the payload ring. Only the producer calls OpenPayload, once.
func (r *Ring) OpenPayload() []byte {
	if r.pair.payload == 0 {
		r.pair.payload = r.arena.allocate(PayloadBytes)
	}
	Store64(r.payloadOff, uint64(r.pair.payload))
	m, at := r.arena.locate(uint64(r.pair.payload), PayloadBytes)
	return m.slice(at, PayloadBytes)
}

// OpenLong is OpenPayload for the ring of long payloads. The Region is empty if all such rings are
// in use.
func (r *Ring) OpenLong() Region {
	a := r.arena
	if r.pair.long == 0 {
		if a.longs == LongRings {
			return Region{}
		}
		r.pair.long = longOffset(a.procs) + a.longs*LongBytes
		a.longs++
	}
	off := r.pair.long
	Store64(r.longOff, uint64(off))
	return Region{m: a.m, off: off, size: LongBytes}
}
