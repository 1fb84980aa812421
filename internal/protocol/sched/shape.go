package sched

import "math/bits"

// A Shape is the argument of a builder: the ranks and the lengths of the blocks, as far as this
// rank knows them. Lengths and offsets are in elements.
type Shape struct {
	N, Me, Root int

	// Count is the length of the vector (Bcast, Reduce, Allreduce, Scan, Exscan,
	// NeighborAllgather) or of each block (the others). A member of a Gather or
	// Scatter with In or Out has its own length here.
	Count int

	// Segment bounds the length of a message of the algorithms that cut a vector into segments; 0
	// does not cut. All ranks must give the same value.
	Segment int

	// Radix of a k-nomial tree; 0 means 4.
	Radix int

	// Nodes is the node of each rank, for the two-level algorithms: any numbers, and the ranks of a
	// node need not be neighbours. Nil: all ranks are on one node. All ranks must give the same
	// nodes.
	Nodes []int

	// In are the blocks of Input (Scatter at the root, Alltoall, ReduceScatter, NeighborAlltoall),
	// Out the blocks of Output (Gather at the root, Allgather, Alltoall, NeighborAllgather,
	// NeighborAlltoall), by rank or by neighbour.
	In, Out Blocks

	// Sources and Dests are this rank's neighbours in a graph, for the two neighbourhood verbs; a
	// rank may be there several times, and this rank too. An entry below 0 is no rank: its block is
	// neither sent nor changed.
	Sources, Dests []int

	// Arrivals are the places of Sources in the order in which several edges from one rank are
	// received; nil: in the order of Sources. On a periodic grid of two ranks both neighbours are
	// the same rank, and the block that it sends down arrives from above.
	Arrivals []int
}

// Blocks holds the place of each rank's block. The zero value means: all have Shape.Count elements,
// one behind the other.
type Blocks struct {
	Counts, Displs []int // lengths and offsets, both or none
}

func (s *Shape) block(b *Blocks, i int) (off, elems int) {
	if b.Counts == nil {
		return i * s.Count, s.Count
	}
	return b.Displs[i], b.Counts[i]
}

func (s *Shape) inBlock(i int) (at Ref, elems int) {
	off, elems := s.block(&s.In, i)
	return in(off), elems
}

func (s *Shape) outBlock(i int) (at Ref, elems int) {
	off, elems := s.block(&s.Out, i)
	return out(off), elems
}

// span returns the place of the blocks [lo, hi) of a packed layout.
func (s *Shape) span(b *Blocks, lo, hi int) (off, elems int) {
	if lo >= hi {
		return 0, 0
	}
	off, _ = s.block(b, lo)
	last, n := s.block(b, hi-1)
	return off, last + n - off
}

func (s *Shape) inSpan(lo, hi int) (at Ref, elems int) {
	off, elems := s.span(&s.In, lo, hi)
	return in(off), elems
}

func (s *Shape) outSpan(lo, hi int) (at Ref, elems int) {
	off, elems := s.span(&s.Out, lo, hi)
	return out(off), elems
}

// mod is the rank that is i places up from rank 0, cyclically; i > -2N.
func (s *Shape) mod(i int) int { return (i + 2*s.N) % s.N }

// node is the node of a rank.
func (s *Shape) node(rank int) int {
	if s.Nodes == nil {
		return 0
	}
	return s.Nodes[rank]
}

// rel numbers the ranks from the root on; abs undoes it.
func (s *Shape) rel() int      { return s.mod(s.Me - s.Root) }
func (s *Shape) abs(v int) int { return s.mod(v + s.Root) }

// segments returns the number of messages into which a vector of elems is cut: at least one, so
// that the pattern is the same for empty vectors.
func (s *Shape) segments(elems int) int {
	if s.Segment <= 0 || elems <= s.Segment {
		return 1
	}
	return (elems + s.Segment - 1) / s.Segment
}

// A part is a range of elements.
type part struct{ off, elems int }

// cut returns the i-th of parts nearly equal pieces of elems elements.
func cut(elems, parts, i int) part { return cuts(elems, parts, i, i+1) }

// cuts returns the pieces [lo, hi). The longer ones come first.
func cuts(elems, parts, lo, hi int) part {
	at := func(i int) int { return i*(elems/parts) + min(i, elems%parts) }
	return part{at(lo), at(hi) - at(lo)}
}

// ceilLog2 is the least k with 2^k >= n, floorLog2 the largest with 2^k <= n.
func ceilLog2(n int) int  { return bits.Len(uint(n - 1)) }
func floorLog2(n int) int { return bits.Len(uint(n)) - 1 }
