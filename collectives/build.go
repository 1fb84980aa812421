package collectives

import (
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// A task is the request that prepared arguments make: the verb, in bytes.
type task struct {
	verb     sched.Verb
	dst, src []byte
	length   int // bytes of the vector, or of a block
	layout   sched.Layout
	sized    bool // every member knows length
	note     int  // bytes to publish: the same at all members
}

// do makes the task of x, unless an argument is wrong.
func (x *call) do(t task) {
	if x.err != nil {
		return
	}
	x.verb, x.dst, x.src, x.bytes = t.verb, t.dst, t.src, t.note
	x.shape.Count = t.length / x.unit
	x.layout, x.choiceBytes = t.layout, t.length
	if !t.sized {
		x.choiceBytes = unknownBytes
	}
}

// choose selects the algorithm and makes the schedule of a call with valid arguments.
func (x *call) choose() {
	s := settingsOf(x.verb, x.option)
	if s.err != nil {
		x.err = s.err
		return
	}
	q := question{verb: x.verb, ranks: x.n, bytes: x.choiceBytes, crowded: x.e.Crowded(), direct: x.e.Direct(), nodes: x.e.Nodes() != nil, perNode: x.e.PerNode(),
		commutative: x.commutative, layout: x.layout}
	w := s.pick(&q)
	x.head = x.head.withWay(w.number)
	x.Tag = x.head.tag()
	x.build(w)
	x.memory(w.algorithm)
}

// vector reports whether a verb works on one vector and not on blocks of the ranks.
func vector(v sched.Verb) bool {
	switch v {
	case sched.Bcast, sched.ReduceTo, sched.Allreduce, sched.Scan, sched.Exscan:
		return true
	}
	return false
}

// cuts are the algorithms that cut a vector into pieces, and so must know its length.
var cuts = map[string]bool{"bcast/scatter-allgather": true, "reduce/rabenseifner": true, "allreduce/ring": true, "allreduce/rabenseifner": true}

// build makes the plan. A plan that does not depend on the length is made for blocks of one
// element, with the block as its unit: the next call can use the same plan.
func (x *call) build(w *way) {
	s := &x.shape
	s.Radix, s.Segment, x.Unit = w.Radix, 0, x.unit
	if w.Segment > 0 {
		s.Segment = max(1, w.Segment/x.unit)
	}
	uneven := s.In.Counts != nil || s.Out.Counts != nil || s.Sources != nil || s.Dests != nil || x.layout != sched.Uniform
	if !uneven && !(vector(x.verb) && (s.Segment > 0 || cuts[w.algorithm.Name])) && x.verb != sched.Barrier {
		x.Unit, s.Count = s.Count*x.unit, 1
	}
	want := plan{w.algorithm, s.N, s.Me, s.Root, s.Count, s.Segment, s.Radix, nil}
	if s.Nodes != nil {
		want.nodes = &s.Nodes[0]
	}
	if uneven || x.built != want {
		w.algorithm.Build(&x.plan, s)
		x.built = want
		if uneven {
			x.built = plan{}
		}
	}
	x.Plan = &x.plan
}

// memory gives the schedule its memory. Where source and destination share some, and
// the algorithm is not made for that, the source is copied away.
func (x *call) memory(a *sched.Algorithm) {
	if byteview.Overlap(x.dst, x.src) && !(a.InPlace && x.inPlace()) {
		copied := words(&x.away, len(x.src))
		copy(copied, x.src)
		x.src = copied
	}
	x.Bufs = [3][]byte{x.src, x.dst, words(&x.scratch, x.plan.Scratch*x.Unit)}
}

// inPlace reports whether source and destination are placed as algorithms that work in place
// expect.
func (x *call) inPlace() bool {
	s := &x.shape
	switch x.verb {
	case sched.Gather, sched.Allgather:
		return begins(x.dst, x.src, x.place(&s.Out))
	case sched.Scatter:
		return begins(x.src, x.dst, x.place(&s.In))
	}
	return begins(x.dst, x.src, 0)
}

// place is where this rank's block begins, in bytes.
func (x *call) place(b *sched.Blocks) int {
	if b.Counts == nil {
		return x.me * x.shape.Count * x.Unit
	}
	return b.Displs[x.me] * x.Unit
}

// foldBytes is how much is combined at once where the right side is overwritten, or one
// element if that is larger.
const foldBytes = 4096

// combine sets dst = left op right, of equal lengths; dst is left, right, or neither.
func (x *call) combine(dst, left, right []byte) error {
	if len(dst) == 0 {
		return nil
	}
	x.fold(dst, left, right)
	if x.reentered {
		return fmt.Errorf("%w: the operation calls the library while it runs", comm.ErrUnsupported)
	}
	if x.panicked != nil {
		return fmt.Errorf("%w: the operation has panicked: %v", comm.ErrUnsupported, x.panicked)
	}
	return nil
}

// foldInto sets dst = left op right with a function that sets acc = acc op in; a part at
// a time where dst is right.
func (x *call) foldInto(dst, left, right []byte, f func(acc, in []byte)) {
	if &dst[0] != &right[0] {
		if &dst[0] != &left[0] {
			copy(dst, left)
		}
		f(dst, right)
		return
	}
	part := byteview.Bytes(x.chunk[:])[:foldBytes/x.unit*x.unit]
	if len(part) == 0 {
		part = words(&x.one, x.unit)
	}
	for at := 0; at < len(right); at += len(part) {
		acc := part[:min(len(part), len(right)-at)]
		copy(acc, left[at:])
		f(acc, right[at:at+len(acc)])
		copy(right[at:], acc)
	}
}

// Blocks describes the parts of a slice that a v-form sends or receives: Counts[i] elements from
// Displs[i] on are the part of rank i, or of the i-th neighbour for the collectives among
// neighbours. Counts has one entry for each rank or neighbour. Displs has as many entries as
// Counts, or is nil: then the parts lie one behind the other, in the order of the ranks, from the
// beginning of the slice on.
//
// A call returns comm.ErrLength if Counts or Displs has another length or a count is negative, and
// comm.ErrBuffer if a part is not inside of the slice. The parts of a destination must not overlap.
type Blocks struct{ Counts, Displs []int }

// wantBlocks checks the blocks of a buffer of elems elements; what is the buffer's name in errors.
// Without displacements wantBlocks computes them in room.
func (x *call) wantBlocks(what string, elems int, b Blocks, room *[]int) sched.Blocks {
	return x.wantBlocksOf(x.n, what, elems, b, room)
}

func (x *call) wantBlocksOf(n int, what string, elems int, b Blocks, room *[]int) sched.Blocks {
	if len(b.Counts) != n || b.Displs != nil && len(b.Displs) != n {
		x.wrong("%w: %d counts and %d displacements of %s, want %d of each, or no displacements", comm.ErrLength, len(b.Counts), len(b.Displs), what, n)
		return sched.Blocks{}
	}
	if b.Displs == nil {
		b.Displs = packed(b.Counts, room)
	}
	for i, count := range b.Counts {
		switch {
		case count < 0:
			x.wrong("%w: count %d of block %d of %s", comm.ErrLength, count, i, what)
		case b.Displs[i] < 0 || b.Displs[i] > elems || count > elems-b.Displs[i]:
			x.wrong("%w: block %d of %s has %d elements at %d: %s has %d elements", comm.ErrBuffer, i, what, count, b.Displs[i], what, elems)
		}
	}
	return sched.Blocks(b)
}

// packed are the displacements of blocks that lie one behind the other.
func packed(counts []int, room *[]int) []int {
	d, at := (*room)[:0], 0
	for _, count := range counts {
		d = append(d, at)
		at += max(count, 0)
	}
	*room = d
	return d
}

// sum of counts that may be wrong.
func sum(counts []int) (total int) {
	for _, count := range counts {
		total += max(count, 0)
	}
	return total
}
