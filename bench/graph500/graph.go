package main

import (
	"context"
	"fmt"
	"sort"

	"github.com/goulfm/goulfm/bench/internal/kron"
	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// A graph lies in as many parts as there were ranks at first: vertex v is in part v mod parts, at v div parts. Each part
// has the neighbours of its vertices, and a word for each vertex that searches claim. Parts lie on shelves.
type graph struct {
	c       *comm.Comm
	edges   *kron.Graph
	parts   int
	shelves []shelf
	where   []place // by part
}

type place struct{ shelf, rank int }

// part is one of this rank's.
type part struct {
	number int
	words  []uint64 // claimed or 0, by vertex
	begin  []uint64 // where a vertex's neighbours begin; one more than vertices
	near   []uint64 // neighbours
}

// vertices returns how many vertices a part has.
func (g *graph) vertices(part int) int {
	return (g.edges.Vertices() - part + g.parts - 1) / g.parts
}

// index finds the place of each part.
func (g *graph) index() {
	for i, s := range g.shelves {
		for rank, part := range s.parts {
			if part >= 0 {
				g.where[part] = place{i, rank}
			}
		}
	}
}

// mine are the parts in this rank's memory.
func (g *graph) mine() (parts []part) {
	for _, s := range g.shelves {
		if n := s.parts[g.c.Rank()]; n >= 0 {
			parts = append(parts, part{n, s.words.Local(), s.begin.Local(), s.near.Local()})
		}
	}
	return parts
}

// build generates the graph: each rank a block of the edges, of which it tells both ends' parts.
func build(ctx context.Context, c *comm.Comm, edges *kron.Graph) (*graph, error) {
	n := c.Size()
	g := &graph{c: c, edges: edges, parts: n, where: make([]place, n)}
	lo, hi := comm.Block(edges.Edges(), n, c.Rank())
	toward := make([][]uint64, n) // vertex and neighbour, by part of the vertex
	for e := lo; e < hi; e++ {
		x := edges.Edge(e)
		if x.From != x.To {
			toward[x.From%uint64(n)] = append(toward[x.From%uint64(n)], x.From, x.To)
			toward[x.To%uint64(n)] = append(toward[x.To%uint64(n)], x.To, x.From)
		}
	}
	pairs, err := exchange(ctx, c, toward)
	if err != nil {
		return nil, err
	}
	s, err := newShelf(ctx, c, g.vertices(c.Rank()), len(pairs)/2)
	if err != nil {
		return nil, err
	}
	for rank := range n {
		s.parts = append(s.parts, rank)
	}
	g.shelves = []shelf{s}
	g.index()
	g.mine()[0].fill(pairs, uint64(n))
	return g, s.words.Fence(ctx)
}

// exchange gives each rank what is for it.
func exchange(ctx context.Context, c *comm.Comm, toward [][]uint64) ([]uint64, error) {
	n := c.Size()
	out, in := make([]int, n), make([]int, n)
	var all []uint64
	for rank, pairs := range toward {
		out[rank] = len(pairs)
		all = append(all, pairs...)
	}
	if err := collectives.Alltoall(ctx, c, in, out); err != nil {
		return nil, err
	}
	total := 0
	for _, k := range in {
		total += k
	}
	got := make([]uint64, total)
	return got, collectives.Alltoallv(ctx, c, got, in, nil, all, out, nil)
}

// fill puts pairs of vertices and neighbours into a part.
func (p *part) fill(pairs []uint64, parts uint64) {
	for i := 0; i < len(pairs); i += 2 {
		p.begin[pairs[i]/parts+1]++
	}
	for v := range p.words {
		p.begin[v+1] += p.begin[v]
	}
	next := append([]uint64{}, p.begin...)
	for i := 0; i < len(pairs); i += 2 {
		v := pairs[i] / parts
		p.near[next[v]] = pairs[i+1]
		next[v]++
	}
	for v := range p.words {
		near := p.near[p.begin[v]:p.begin[v+1]]
		sort.Slice(near, func(i, j int) bool { return near[i] < near[j] })
	}
}

// roots are the first roots of the reference.
func (g *graph) roots(ctx context.Context, n int) ([]uint64, error) {
	joined := make([]bool, g.edges.Vertices())
	for _, p := range g.mine() {
		for v := range p.words {
			joined[v*g.parts+p.number] = p.begin[v+1] > p.begin[v]
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
