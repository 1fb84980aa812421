package era

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// paperParent is Parent(S, p) word for word (ERA, Part 1), for ranks that count from
// 1, as the paper does; 0 stands for nobody.
func paperParent(p int, dead func(int) bool) int {
	for q := p / 2; q >= 1; q /= 2 { // max Anc(S, p)
		if !dead(q) {
			return q
		}
	}
	for q := 1; q < p; q++ { // min Eld(S, p)
		if !dead(q) {
			return q
		}
	}
	return 0
}

// TestParentIsThePapers compares the binary tree with the definition (A11).
func TestParentIsThePapers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		n := 1 + rng.IntN(40)
		closed := randomSet(rng, n)
		tr := newTree(newShape(nil, n), n, rankset.Set{})
		for r := range n {
			if closed.Has(r) {
				continue
			}
			want := paperParent(r+1, func(q int) bool { return closed.Has(q - 1) }) - 1
			if got := tr.parent(r, closed); got != want {
				t.Fatalf("parent of %d of %d without %v is %d, want %d", r, n, closed, got, want)
			}
		}
	}
}

// TestChildrenAgainstDefinition: Children(S, p) = {q: Parent(S, q) = p}, for any shape, with ranks
// left out of the tree and others skipped.
func TestChildrenAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 3000 {
		n := 1 + rng.IntN(40)
		gone, closed := randomSet(rng, n), randomSet(rng, n)
		tr := newTree(randomShape(rng, n), n, gone)
		for p := range n {
			if gone.Has(p) || closed.Has(p) {
				continue
			}
			var want []int
			for q := range n {
				if !gone.Has(q) && !closed.Has(q) && tr.parent(q, closed) == p {
					want = append(want, q)
				}
			}
			got := slices.Sorted(tr.children(p, closed))
			if !slices.Equal(got, want) {
				t.Fatalf("children of %d of %d, gone %v, closed %v: %v, want %v", p, n, gone, closed, got, want)
			}
		}
	}
}

// TestPositions: position and rank are inverse, and positions have no holes.
func TestPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		n := 1 + rng.IntN(200)
		gone := randomSet(rng, n)
		tr := newTree(newShape(nil, n), n, gone)
		pos := 0
		for r := range n {
			if gone.Has(r) {
				continue
			}
			if tr.position(r) != pos || tr.rank(pos) != r {
				t.Fatalf("gone %v: rank %d is at %d, want %d; position %d holds %d", gone, r, tr.position(r), pos, pos, tr.rank(pos))
			}
			pos++
		}
		if pos != tr.size {
			t.Fatalf("gone %v of %d: size %d, want %d", gone, n, tr.size, pos)
		}
	}
}

// TestLemma3RootStaysRoot of ERA: a root stays root until it dies; and TestLemma2:
// there always is exactly one among the living.
func TestLemma3RootStaysRoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		n := 2 + rng.IntN(20)
		tr := newTree(randomShape(rng, n), n, rankset.Set{})
		var closed rankset.Set
		root := 0
		for _, x := range rng.Perm(n)[:n-1] {
			closed.Add(x)
			var roots []int
			for r := range n {
				if !closed.Has(r) && tr.parent(r, closed) < 0 {
					roots = append(roots, r)
				}
			}
			if len(roots) != 1 || tr.root(closed) != roots[0] {
				t.Fatalf("%d of %d dead: roots %v, root() %d", closed.Len(), n, roots, tr.root(closed))
			}
			if !closed.Has(root) && roots[0] != root {
				t.Fatalf("root %d lives and %v is root", root, roots)
			}
			root = roots[0]
		}
	}
}

// TestFigure1 of ERA: the trees mended when the node named 1 is dead. (The figure
// counts from 1; so its node 1 is rank 0 here.)
func TestFigure1(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape func(int) int
		want  []int // children of the new root, rank 1
	}{
		{"binary", nil, []int{2, 3, 4}},
		{"chain", chain, []int{2}},
		{"star", star, []int{2, 3, 4, 5, 6}},
	} {
		tr := newTree(newShape(c.shape, 7), 7, rankset.Set{})
		if got := slices.Sorted(tr.children(1, rankset.Of(0))); !slices.Equal(got, c.want) {
			t.Errorf("%s: children of 1 are %v, want %v", c.name, got, c.want)
		}
	}
}

// TestChildrenCost: the children of an inner member of a large binary tree are found
// without a walk over the tree.
func TestChildrenCost(t *testing.T) {
	const n = 1 << 20
	tr := newTree(newShape(nil, n), n, rankset.Set{})
	if allocs := testing.AllocsPerRun(10, func() {
		for r := range 64 {
			for range tr.children(r, rankset.Set{}) {
			}
		}
	}); allocs > 64*8 {
		t.Errorf("%v allocations for the children of 64 members", allocs)
	}
}

func randomSet(rng *rand.Rand, n int) rankset.Set {
	var s rankset.Set
	odds := 1 + rng.IntN(5)
	for r := range n - 1 { // at least one is left
		if rng.IntN(odds+1) == 0 {
			s.Add((r*7 + 3) % (n - 1))
		}
	}
	return s
}

func randomShape(rng *rand.Rand, n int) *shape {
	switch rng.IntN(4) {
	case 0:
		return newShape(nil, n)
	case 1:
		return newShape(chain, n)
	case 2:
		return newShape(star, n)
	}
	parents := []int{-1}
	for pos := 1; pos < n; pos++ {
		parents = append(parents, rng.IntN(pos))
	}
	return newShape(func(pos int) int { return parents[pos] }, n)
}
