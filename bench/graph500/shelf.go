package main

import (
	"context"
	"errors"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/csr"
	"github.com/goulfm/goulfm/rma"
)

// A shelf is three windows, and the part of each rank there; none: -1. At first there is one shelf.
// After a death the part of the dead rank is on a shelf of its own.
type shelf struct {
	words, begin *rma.Win[uint64]
	near         *rma.Win[csr.Neighbour]
	parts        []int
}

func newShelf(ctx context.Context, c *comm.Comm, vertices, neighbours int) (s shelf, err error) {
	if s.words, err = rma.Allocate[uint64](ctx, c, vertices); err != nil {
		return s, err
	}
	if s.begin, err = rma.Allocate[uint64](ctx, c, vertices+1); err != nil {
		return s, errors.Join(err, s.free())
	}
	if s.near, err = rma.Allocate[csr.Neighbour](ctx, c, neighbours); err != nil {
		return s, errors.Join(err, s.free())
	}
	return s, nil
}

// moved is a shelf with the same memory on another communicator.
func (s *shelf) moved(ctx context.Context, c *comm.Comm, o ...rma.Option) (n shelf, err error) {
	for range c.Size() {
		n.parts = append(n.parts, -1)
	}
	if n.words, err = rma.Rebuild(ctx, c, s.words, o...); err != nil {
		return n, err
	}
	if n.begin, err = rma.Rebuild(ctx, c, s.begin, o...); err != nil {
		return n, errors.Join(err, n.free())
	}
	if n.near, err = rma.Rebuild(ctx, c, s.near, o...); err != nil {
		return n, errors.Join(err, n.free())
	}
	return n, nil
}

func (s *shelf) free() error {
	return errors.Join(freed(s.words), freed(s.begin), freed(s.near))
}

// freed frees a window that may not have been made.
func freed[T comm.Elem](w *rma.Win[T]) error {
	if w == nil {
		return nil
	}
	return w.Free()
}

func (g *graph) free() error {
	var errs []error
	if g.scan != nil {
		errs = append(errs, g.scan.free())
		g.scan = nil
	}
	for _, s := range g.shelves {
		errs = append(errs, s.free())
	}
	return errors.Join(errs...)
}

// repaired returns the graph on a communicator of the living, which have taken over the parts of
// the dead. If a part was in memory that no survivor reaches, because a node was lost, the
// survivors generate the graph anew. The old graph is freed.
func (g *graph) repaired(ctx context.Context) (*graph, error) {
	for try := 1; ; try++ {
		left, err := g.c.Shrink(ctx)
		if err != nil {
			return g, err
		}
		left.Mark("repair", try)
		n, failure := g.on(ctx, left)
		ok, err := left.AllOK(ctx, failure)
		if ok {
			return n, g.free()
		}
		if err := errors.Join(err, failure); err != nil && !comm.Recoverable(err) {
			return g, err
		}
		if err := n.free(); err != nil && !comm.Recoverable(err) {
			return g, err
		}
	}
}

// on returns the graph on a communicator of some of its ranks; with an error, an incomplete graph.
func (g *graph) on(ctx context.Context, c *comm.Comm) (*graph, error) {
	n := &graph{c: c, edges: g.edges, variant: g.variant, parts: g.parts, shift: g.shift, where: make([]place, g.parts)}
	ranks := c.RanksOf(g.c.Group()) // by old rank
	for _, s := range g.shelves {
		dead := s.lost(ranks)
		heirs, err := rma.Heirs(ctx, c, s.words, dead)
		if err != nil {
			return n, err
		}
		if slices.Contains(heirs, comm.Undefined) {
			return g.generated(ctx, c, n)
		}
		moved, err := s.moved(ctx, c)
		if err != nil {
			return n, err
		}
		n.shelves = append(n.shelves, moved)
		for rank, part := range s.parts {
			if ranks[rank] != comm.Undefined {
				moved.parts[ranks[rank]] = part
			}
		}
		for i, rank := range dead {
			o := rma.Fresh(0)
			if c.Rank() == heirs[i] {
				o = rma.Inherit(rank)
			}
			lost, err := s.moved(ctx, c, o)
			if err != nil {
				return n, err
			}
			lost.parts[heirs[i]] = s.parts[rank]
			n.shelves = append(n.shelves, lost)
		}
	}
	n.index()
	return n, nil
}

// lost are the ranks of a shelf that have a part and are not among the living.
func (s *shelf) lost(ranks []int) (dead []int) {
	for rank, part := range s.parts {
		if part >= 0 && ranks[rank] == comm.Undefined {
			dead = append(dead, rank)
		}
	}
	return dead
}

// generated returns the graph that the living generate anew, in place of the incomplete graph n.
func (g *graph) generated(ctx context.Context, c *comm.Comm, n *graph) (*graph, error) {
	if err := n.free(); err != nil {
		return n, err
	}
	n, err := build(ctx, c, g.edges, g.variant)
	n.anew = true
	return n, err
}
