package relayout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrRuns is wrapped by the errors of runs that are no distribution.
var ErrRuns = errors.New("not a distribution")

// Run is Count consecutive elements from Start on. Neither is negative.
type Run struct{ Start, Count int }

// Dist lists the elements of each rank, in the order in which the rank stores them.
type Dist [][]Run

// Block returns the elements of total that rank holds in blocks that differ by at most
// one element, the larger ones first: the elements from lo up to hi, without hi.
func Block(total, size, rank int) (lo, hi int) {
	each, more := total/size, total%size
	lo = rank*each + min(rank, more)
	hi = lo + each
	if rank < more {
		hi++
	}
	return lo, hi
}

// Blocks returns the distribution in blocks. Ranks without elements have no runs.
func Blocks(total, size int) Dist {
	d := make(Dist, size)
	for r := range d {
		if lo, hi := Block(total, size, r); lo < hi {
			d[r] = []Run{{Start: lo, Count: hi - lo}}
		}
	}
	return d
}

// Len returns the number of elements of rank.
func (d Dist) Len(rank int) int {
	n := 0
	for _, r := range d[rank] {
		n += r.Count
	}
	return n
}

// Check returns nil if d holds each element of [0, total) exactly once. Otherwise the error names
// an element and ranks.
func (d Dist) Check(total int) error {
	if total < 0 {
		return fmt.Errorf("%w: %d elements", ErrRuns, total)
	}
	next, last := 0, -1
	for _, p := range d.pieces() {
		switch {
		case p.Start < 0 || p.Count < 0 || p.Start > total || p.Count > total-p.Start:
			return fmt.Errorf("%w: rank %d has %d elements from %d on, of %d", ErrRuns, p.rank, p.Count, p.Start, total)
		case p.Start > next:
			return fmt.Errorf("%w: no rank has element %d", ErrRuns, next)
		case p.Start < next:
			return fmt.Errorf("%w: rank %d and rank %d have element %d", ErrRuns, last, p.rank, p.Start)
		}
		next, last = p.Start+p.Count, p.rank
	}
	if next < total {
		return fmt.Errorf("%w: no rank has element %d", ErrRuns, next)
	}
	return nil
}

// piece is a run with its place in the storage of its rank.
type piece struct {
	Run
	rank   int
	offset int // in elements, in the rank's storage
}

// pieces returns the runs that have elements, or a negative count, in the order of elements.
func (d Dist) pieces() []piece {
	var all []piece
	for rank, runs := range d {
		offset := 0
		for _, r := range runs {
			if r.Count != 0 {
				all = append(all, piece{Run: r, rank: rank, offset: offset})
			}
			offset += r.Count
		}
	}
	slices.SortStableFunc(all, func(a, b piece) int { return cmp.Compare(a.Start, b.Start) })
	return all
}
