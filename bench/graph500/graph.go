package main

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/csr"
	"github.com/goulfm/goulfm/internal/testing/harness/kron"
)

// A graph has as many parts as there were ranks at first: vertex v is in part v mod parts, at v div
// parts. Each part has the neighbours of its vertices, and a word for each vertex that searches
// set. Parts lie on shelves.
type graph struct {
	c       *comm.Comm
	edges   *kron.Graph
	variant variant
	parts   int
	shift   int // to divide by a number of parts that is a power of two; else 0
	shelves []shelf
	where   []place // by part
	slots   int     // the most parts of a rank
	anew    bool    // generated again: the words of earlier searches are lost

	scan  scanner     // nil: not made yet
	block []kron.Edge // the edges that this rank validates; nil: not generated yet
}

type place struct{ shelf, rank, slot int }

// A part is a part of this rank.
type part struct {
	number, slot int
	words        []uint64        // set or 0, by vertex
	begin        []uint64        // where a vertex's neighbours begin; one more than vertices
	near         []csr.Neighbour // neighbours
}

// neighbours are the neighbours of the i-th vertex.
func (p *part) neighbours(i int) []csr.Neighbour { return p.near[p.begin[i]:p.begin[i+1]] }

// partOf returns the part of a vertex and its place there.
func (g *graph) partOf(v uint64) (part, i int) {
	if g.shift > 0 {
		return int(v) & (g.parts - 1), int(v >> g.shift)
	}
	return int(v % uint64(g.parts)), int(v / uint64(g.parts))
}

// shiftOf is the number of bits to shift for a division by n; 0: none.
func shiftOf(n int) int {
	if n&(n-1) != 0 {
		return 0
	}
	return bits.TrailingZeros(uint(n))
}

// vertexOf is the inverse of partOf.
func (g *graph) vertexOf(part, i int) uint64 { return uint64(i*g.parts + part) }

// rankOf is the owner of a vertex.
func (g *graph) rankOf(v uint64) int { return g.where[v%uint64(g.parts)].rank }

// vertices returns how many vertices a part has.
func (g *graph) vertices(part int) int {
	return (g.edges.Vertices() - part + g.parts - 1) / g.parts
}

// rows is how many vertices the largest part has.
func (g *graph) rows() int { return g.vertices(0) }

// index finds the place of each part, and numbers the parts of each rank.
func (g *graph) index() {
	have := make([]int, g.c.Size())
	for i, s := range g.shelves {
		for rank, part := range s.parts {
			if part >= 0 {
				g.where[part] = place{i, rank, have[rank]}
				have[rank]++
				g.slots = max(g.slots, have[rank])
			}
		}
	}
}

// mine are the parts in this rank's memory, by slot.
func (g *graph) mine() (parts []part) {
	for _, s := range g.shelves {
		if n := s.parts[g.c.Rank()]; n >= 0 {
			parts = append(parts, part{n, g.where[n].slot, s.words.Local(), s.begin.Local(), s.near.Local()})
		}
	}
	return parts
}

// build generates the graph: each rank generates a block of the edges, and sends each edge to the
// parts of both its ends. With an error build returns an incomplete graph.
func build(ctx context.Context, c *comm.Comm, edges *kron.Graph, v variant) (*graph, error) {
	n := c.Size()
	g := &graph{c: c, edges: edges, variant: v, parts: n, shift: shiftOf(n), where: make([]place, n)}
	toward := make([][]csr.Edge, n) // by part of the vertex
	tell := func(from, to uint64, weight float32) {
		part, i := g.partOf(from)
		toward[part] = append(toward[part], csr.Edge{From: uint64(i), To: csr.Toward(to, weight)})
	}
	for _, x := range g.edgesHere() {
		if x.From != x.To {
			tell(x.From, x.To, x.Weight)
			tell(x.To, x.From, x.Weight)
		}
	}
	rows, _, err := exchange(ctx, c, toward)
	if err != nil {
		return g, err
	}
	s, err := newShelf(ctx, c, g.vertices(c.Rank()), len(rows))
	if err != nil {
		return g, err
	}
	for rank := range n {
		s.parts = append(s.parts, rank)
	}
	g.shelves = []shelf{s}
	g.index()
	csr.Fill(s.begin.Local(), s.near.Local(), rows)
	return g, g.fence(ctx)
}

// edgesHere are the edges that this rank checks in a validation: a block of all edges.
func (g *graph) edgesHere() []kron.Edge {
	if g.block == nil {
		lo, hi := comm.Block(g.edges.Edges(), g.c.Size(), g.c.Rank())
		g.block = make([]kron.Edge, 0, hi-lo)
		for e := lo; e < hi; e++ {
			g.block = append(g.block, g.edges.Edge(e))
		}
	}
	return g.block
}

// exchange sends toward[r] to rank r. It returns the received elements in the order of their
// senders; counts has the number of elements of each sender.
func exchange[T comm.Elem](ctx context.Context, c *comm.Comm, toward [][]T) (got []T, counts []int, err error) {
	n := c.Size()
	out, in := make([]int, n), make([]int, n)
	var all []T
	for rank, some := range toward {
		out[rank] = len(some)
		all = append(all, some...)
	}
	if err := collectives.Alltoall(ctx, c, in, out); err != nil {
		return nil, nil, err
	}
	total := 0
	for _, k := range in {
		total += k
	}
	got = make([]T, total)
	return got, in, collectives.Alltoallv(ctx, c, got, collectives.Blocks{Counts: in}, all, collectives.Blocks{Counts: out})
}

// roots are the first roots of the reference.
func (g *graph) roots(ctx context.Context, n int) ([]uint64, error) {
	joined := make([]bool, g.edges.Vertices())
	for _, p := range g.mine() {
		for v := range p.words {
			joined[g.vertexOf(p.number, v)] = p.begin[v+1] > p.begin[v]
		}
	}
	if err := collectives.Allreduce(ctx, g.c, joined, joined, collectives.LOr); err != nil {
		return nil, err
	}
	roots := g.edges.Roots(n, func(v uint64) bool { return joined[v] })
	if len(roots) == 0 {
		return nil, fmt.Errorf("no vertex has an edge")
	}
	return roots, nil
}
