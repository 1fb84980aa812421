package comm

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// adjacency is the topology of a Graph: the neighbors of each rank.
type adjacency [][]int

func (a adjacency) neighbors(rank int) (in, out []int) {
	return slices.Clone(a[rank]), slices.Clone(a[rank])
}

// ends is the topology of a DistGraph: the edges of this member.
type ends struct{ in, out []int }

func (e ends) neighbors(int) (in, out []int) { return slices.Clone(e.in), slices.Clone(e.out) }

// Graph returns a communicator of the first len(neighbors) members, in which neighbors[r] are the
// neighbors of rank r; the other members get nil. All members pass the whole graph. Collective; it
// succeeds at every live member or at none. A member gets ErrLength if its graph has more nodes
// than c has members, and ErrRank if a neighbor is no node; the others get ErrPeerArgument. Graphs
// that differ between members are ErrMismatch at all (MPI 8.5.3). Each member keeps the whole
// graph: for many ranks DistGraph is better.
func (c *Comm) Graph(ctx context.Context, neighbors [][]int) (*Comm, error) {
	if err := given(ctx, "graph", c); err != nil {
		return nil, err
	}
	a := make(adjacency, len(neighbors))
	for r, list := range neighbors {
		a[r] = slices.Clone(list)
	}
	in := engine.Contribution{Digest: a.digest()}
	if c.Rank() >= len(a) {
		in.Color = Undefined
	}
	return c.createWith(ctx, a, commstate.Call{Kind: commstate.KindGraph}, in, a.check(c.Size()), "graph")
}

func (a adjacency) check(limit int) error {
	if len(a) > limit {
		return fmt.Errorf("%w: a graph of %d nodes on %d ranks", ErrLength, len(a), limit)
	}
	for r, list := range a {
		if err := among(list, len(a)); err != nil {
			return fmt.Errorf("neighbors of %d: %w", r, err)
		}
	}
	return nil
}

func (a adjacency) digest() uint64 {
	numbers := []int{len(a)}
	for _, list := range a {
		numbers = append(append(numbers, len(list)), list...)
	}
	return commstate.Digest(numbers...)
}

// DistGraph returns a communicator of all members with a directed graph. Each member passes its own
// edges: incoming edges from sources, outgoing edges to destinations, in the order that Neighbors
// returns them. An edge may occur several times. Collective; it succeeds at every live member or at
// none. A member that passes ranks out of range gets ErrRank, and the others get ErrPeerArgument.
// An edge that only one of its ends has passed is ErrMismatch at all (MPI 8.5.4, the adjacent
// form).
func (c *Comm) DistGraph(ctx context.Context, sources, destinations []int) (*Comm, error) {
	if err := given(ctx, "dist_graph", c); err != nil {
		return nil, err
	}
	e := ends{in: slices.Clone(sources), out: slices.Clone(destinations)}
	bad := among(slices.Concat(sources, destinations), c.Size())
	in := engine.Contribution{Digest: commstate.Edges(c.Rank(), e.in, e.out)}
	return c.createWith(ctx, e, commstate.Call{Kind: commstate.KindDistGraph}, in, bad, "dist_graph")
}

// among returns an error if one of ranks is not in 0..size-1.
func among(ranks []int, size int) error {
	for _, r := range ranks {
		if r < 0 || r >= size {
			return fmt.Errorf("%w: %d of %d", ErrRank, r, size)
		}
	}
	return nil
}

func (a adjacency) arrivals(int) []int { return nil }

func (e ends) arrivals(int) []int { return nil }
