package main

import "context"

// claim sets the word of each vertex by compare-and-swap at the vertex's owner. This word alone
// decides.
type claim struct {
	g     *graph
	known []bool // vertices that are known to be claimed: a cache
}

func newClaim(_ context.Context, g *graph) (scanner, error) {
	return &claim{g, make([]bool, g.edges.Vertices())}, nil
}

func (s *claim) begin()      { clear(s.known) }
func (s *claim) free() error { return nil }

func (s *claim) scan(ctx context.Context, level int, here []vertex, _ sums) error {
	for _, v := range here {
		if err := s.neighbours(ctx, v, level); err != nil {
			return err
		}
	}
	return s.g.fence(ctx)
}

func (s *claim) neighbours(ctx context.Context, v vertex, level int) error {
	word := claimed(level+1, v.number)
	for _, n := range v.near {
		u := n.Vertex()
		if s.known[u] {
			continue
		}
		part, i := s.g.partOf(u)
		at := s.g.where[part]
		to := s.g.shelves[at.shelf].words.At(at.rank)
		was, err := to.Load(ctx, i)
		if err == nil && was == 0 {
			_, _, err = to.CompareAndSwap(ctx, i, 0, word)
		}
		if err != nil {
			return err
		}
		s.known[u] = true
	}
	return nil
}
