package onenode

import "slices"

// Heap is the memory of a node in Go values, for simulators and tests, which run all its processes
// under one goroutine. Like the real memory, a Heap has a few blocks for each process. The block of
// a communicator at a process follows from the context index that the process drew for that
// communicator.
type Heap struct {
	blocks int
	places map[place]*block // looked up, never ranged over
	moved  func(Sharing)    // called at each change that others may wait for; may be nil
}

// Sharing is one member's view of a communicator with its memory in a Heap.
type Sharing struct {
	Part    int      // distinguishes the series of a communicator
	Procs   []int    // the members' processes
	Indices []uint32 // the context index of each member
	Me      int
}

type place struct{ proc, block, part int }

// block is the memory of one process for one part of a communicator.
type block struct {
	lines  [Slots]placedLine
	values [Slots]placedBytes
	words  [Slots]uint64
}

// The field index identifies the communicator of the data.
type (
	placedLine struct {
		index uint32
		seq   uint64
		Line
		long []byte
	}
	placedBytes struct {
		index uint32
		bytes []byte
	}
)

// NewHeap returns memory with this number of blocks for each process; moved, if not nil, is called
// after each line and each decision.
func NewHeap(blocks int, moved func(Sharing)) *Heap {
	return &Heap{blocks: blocks, places: map[place]*block{}, moved: moved}
}

// Prepare makes the block that belongs to a context index ready for a communicator:
// before any other process learns of the index.
func (h *Heap) Prepare(proc int, index uint32, parts int) {
	for part := range parts {
		b := h.block(proc, index, part)
		for slot := range Slots {
			b.lines[slot].seq = 0
			b.words[slot] = uint64(index) << 32
		}
	}
}

func (h *Heap) block(proc int, index uint32, part int) *block {
	at := place{proc, int(index) % (h.blocks + 1), part}
	b := h.places[at]
	if b == nil {
		b = &block{}
		h.places[at] = b
	}
	return b
}

// Open returns a member's view of the memory of a communicator.
func (h *Heap) Open(s Sharing) Memory { return &heapView{Sharing: s, heap: h} }

// heapView is a Memory: everything is tagged with the index that its owner drew.
type heapView struct {
	Sharing
	heap *Heap
}

func (v *heapView) of(m int) *block { return v.heap.block(v.Procs[m], v.Indices[m], v.Part) }

func (v *heapView) moved() {
	if v.heap.moved != nil {
		v.heap.moved(v.Sharing)
	}
}

func (v *heapView) Publish(slot int, seq uint64, l Line, long []byte) {
	v.of(v.Me).lines[slot] = placedLine{v.Indices[v.Me], seq, l, slices.Clone(long)}
	v.moved()
}

func (v *heapView) Read(m, slot int, seq uint64) (Line, bool) {
	l := &v.of(m).lines[slot]
	return l.Line, l.seq == seq && l.index == v.Indices[m]
}

func (v *heapView) Long(m, slot, n int) []byte {
	l := &v.of(m).lines[slot]
	if l.index != v.Indices[m] || n > len(l.long) {
		return nil
	}
	return slices.Clone(l.long[:n])
}

func (v *heapView) Offer(slot int, value []byte) {
	v.of(v.Me).values[slot] = placedBytes{v.Indices[v.Me], slices.Clone(value)}
}

func (v *heapView) Value(m, slot int) []byte {
	b := &v.of(m).values[slot]
	if b.index != v.Indices[m] {
		return nil
	}
	return slices.Clone(b.bytes)
}

// The words of a communicator are in the block of its first member.
func (v *heapView) Word(slot int) uint64 { return v.of(0).words[slot] }

func (v *heapView) Swap(slot int, old, new uint64) bool {
	w := &v.of(0).words[slot]
	if *w != old {
		return false
	}
	*w = new
	v.moved()
	return true
}
