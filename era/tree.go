package era

import (
	"iter"
	"slices"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A tree is the tree of one agreement: the shape laid over the ranks that are not gone, in
// ascending order. The tree is the same at every member (A12). Further dead members known locally
// are passed as "closed" and only skipped: links change only where a member has died (ERA, section
// 2).
type tree struct {
	shape *shape
	size  int   // positions: ranks of the series minus len(gone)
	gone  []int // ranks that are not in the tree, ascending
}

func newTree(s *shape, n int, gone rankset.Set) *tree {
	g := gone.Slice()
	return &tree{shape: s, size: n - len(g), gone: g}
}

// rank returns the rank at a position: the position plus the number of gone
// ranks before it.
func (t *tree) rank(pos int) int {
	lo, hi := 0, len(t.gone)
	for lo < hi { // least i with gone[i]-i > pos: so many gone ranks come before
		mid := (lo + hi) / 2
		if t.gone[mid]-mid > pos {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return pos + lo
}

// position returns the position of a rank in the tree. The rank must not be among those left out.
func (t *tree) position(rank int) int {
	before, isGone := slices.BinarySearch(t.gone, rank)
	must.That(!isGone, "rank %d is not in the tree", rank)
	return rank - before
}

// parent returns the receiver of a member's contribution: its nearest living ancestor, else the
// least living member, else -1 for the root (ERA, Part 1; rule 2).
func (t *tree) parent(rank int, closed rankset.Set) int {
	if p := t.ancestor(t.position(rank), closed); p >= 0 {
		return t.rank(p)
	}
	if root := t.root(closed); root != rank {
		return root
	}
	return -1
}

// children yields the members that have this member as parent. The cost grows with the children and
// the dead members skipped, not with the size of the tree.
func (t *tree) children(rank int, closed rankset.Set) iter.Seq[int] {
	return func(yield func(int) bool) {
		pos := t.position(rank)
		for _, c := range t.shape.children(pos, t.size) {
			if !t.living(c, closed, yield) {
				return
			}
		}
		if t.root(closed) != rank {
			return
		}
		// The root also adopts every other member without a living ancestor.
		t.living(0, closed, func(orphan int) bool { return orphan == rank || yield(orphan) })
	}
}

// living yields the member at pos if alive, else the topmost living members below pos. The result
// is false once the consumer has stopped.
func (t *tree) living(pos int, closed rankset.Set, yield func(int) bool) bool {
	if r := t.rank(pos); !closed.Has(r) {
		return yield(r)
	}
	for _, c := range t.shape.children(pos, t.size) {
		if !t.living(c, closed, yield) {
			return false
		}
	}
	return true
}

// ancestor returns the position of the nearest living ancestor, or -1.
func (t *tree) ancestor(pos int, closed rankset.Set) int {
	for p := t.shape.parent(pos); p >= 0; p = t.shape.parent(p) {
		if !closed.Has(t.rank(p)) {
			return p
		}
	}
	return -1
}

// root returns the least living rank. This rank has no living ancestor, because ancestors come
// before their descendants.
func (t *tree) root(closed rankset.Set) int {
	pos := 0
	for pos < t.size-1 && closed.Has(t.rank(pos)) {
		pos++
	}
	return t.rank(pos)
}

// A shape is a rooted tree over the positions 0, 1, 2, ... in which parents come
// before children, so that its first m positions are a tree for every m.
type shape struct {
	parent func(pos int) int
	kids   [][]int // children by position, ascending; nil for the binary tree, which needs no table
}

// newShape makes the shape with the given parent function on n positions; nil
// means the binary tree.
func newShape(parent func(pos int) int, n int) *shape {
	if parent == nil {
		return &shape{parent: binaryParent}
	}
	s := &shape{parent: parent, kids: make([][]int, n)}
	for pos := range n {
		p := parent(pos)
		must.That(p < pos && p >= -1 && (p >= 0) == (pos > 0), "position %d of the tree has parent %d", pos, p)
		if p >= 0 {
			s.kids[p] = append(s.kids[p], pos)
		}
	}
	return s
}

// binaryParent counts from 0: the paper's floor(p/2) holds for heaps that count
// from 1 (A11).
func binaryParent(pos int) int {
	if pos == 0 {
		return -1
	}
	return (pos - 1) / 2
}

// children returns the children of pos among the first size positions.
func (s *shape) children(pos, size int) []int {
	if s.kids == nil {
		return []int{2*pos + 1, 2*pos + 2}[:max(0, min(2, size-2*pos-1))]
	}
	kids := s.kids[pos]
	end, _ := slices.BinarySearch(kids, size)
	return kids[:end]
}
