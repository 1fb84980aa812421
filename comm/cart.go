package comm

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// grid is a Cartesian topology: ranks in row-major order, the last dimension next to
// each other.
type grid struct {
	dims     []int
	periodic []bool
}

// Cart returns a communicator of the first dims[0]*dims[1]*... members, laid out in a grid in
// row-major order; the others get nil. In a periodic dimension the last position is next to the
// first. Ranks keep their order, also with reorder. Collective; it succeeds at every live member or
// at none. A member gets ErrArgument if its grid has a dimension below 1 or more positions than c
// has members, and ErrLength if the lengths of dims and periodic differ; the other members get
// ErrPeerArgument. Arguments that differ between members are ErrMismatch at all (MPI 8.5.1).
func (c *Comm) Cart(ctx context.Context, dims []int, periodic []bool, reorder bool) (*Comm, error) {
	if err := given(ctx, "cart", c); err != nil {
		return nil, err
	}
	g := grid{dims: slices.Clone(dims), periodic: slices.Clone(periodic)}
	size, bad := g.check(c.Size())
	in := engine.Contribution{Digest: g.digest(reorder)}
	if c.Rank() >= size {
		in.Color = Undefined
	}
	return c.createWith(ctx, g, commstate.Call{Kind: commstate.KindCart}, in, bad, "cart")
}

// check returns the number of positions, or the error of a grid that does not fit limit members.
func (g grid) check(limit int) (size int, err error) {
	if len(g.periodic) != len(g.dims) {
		return 0, fmt.Errorf("%w: %d dimensions, %d of them said to be periodic or not", ErrLength, len(g.dims), len(g.periodic))
	}
	size = 1
	for i, d := range g.dims {
		if d < 1 || d > limit/size {
			return 0, fmt.Errorf("%w: dimension %d of %v: at least 1, and together at most %d", ErrArgument, i, g.dims, limit)
		}
		size *= d
	}
	return size, nil
}

func (g grid) digest(reorder bool) uint64 {
	numbers := append([]int{len(g.dims)}, g.dims...)
	for _, p := range append(g.periodic, reorder) {
		numbers = append(numbers, bit(p))
	}
	return commstate.Digest(numbers...)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// CartCoords returns the position of a rank in the grid, one number per dimension. A rank out of
// range is ErrRank. Without a grid the error is ErrUnsupported (MPI 8.5.5).
func (c *Comm) CartCoords(rank int) ([]int, error) {
	g, err := c.grid()
	if err == nil && (rank < 0 || rank >= c.Size()) {
		err = fmt.Errorf("%w: %d in a communicator of %d", ErrRank, rank, c.Size())
	}
	if err != nil {
		return nil, fail("cart_coords", c, nil, err)
	}
	return g.coords(rank), nil
}

// CartRank returns the rank at a position of the grid. A position out of range is ErrRank, but
// wraps around in a periodic dimension; another number of coordinates than dimensions is ErrLength.
// Without a grid the error is ErrUnsupported (MPI 8.5.5).
func (c *Comm) CartRank(coords []int) (int, error) {
	g, err := c.grid()
	if err == nil && len(coords) != len(g.dims) {
		err = fmt.Errorf("%w: %d coordinates in %d dimensions", ErrLength, len(coords), len(g.dims))
	}
	if err != nil {
		return 0, fail("cart_rank", c, nil, err)
	}
	rank := g.rank(coords)
	if rank == None {
		return 0, fail("cart_rank", c, nil, fmt.Errorf("%w: no position %v in a grid of %v", ErrRank, coords, g.dims))
	}
	return rank, nil
}

// CartShift returns the rank that this member receives from and the rank that this member sends to
// when all send disp positions up in a dimension, counted from 0; down if disp is negative. Beyond
// a border the rank is None. A dimension that the grid does not have is ErrArgument. Without a grid
// the error is ErrUnsupported (MPI 8.5.6).
func (c *Comm) CartShift(dim, disp int) (src, dst int, err error) {
	g, err := c.grid()
	if err == nil && (dim < 0 || dim >= len(g.dims)) {
		err = fmt.Errorf("%w: dimension %d of %d", ErrArgument, dim, len(g.dims))
	}
	if err != nil {
		return None, None, fail("cart_shift", c, nil, err)
	}
	return g.shifted(c.Rank(), dim, -disp), g.shifted(c.Rank(), dim, disp), nil
}

func (c *Comm) grid() (grid, error) {
	if g, ok := c.topo.(grid); ok {
		return g, nil
	}
	return grid{}, fmt.Errorf("%w: the communicator has no grid", ErrUnsupported)
}

func (g grid) coords(rank int) []int {
	out := make([]int, len(g.dims))
	for i := len(g.dims) - 1; i >= 0; i-- {
		out[i], rank = rank%g.dims[i], rank/g.dims[i]
	}
	return out
}

// rank returns None for a position beyond a border.
func (g grid) rank(coords []int) int {
	rank := 0
	for i, x := range coords {
		d := g.dims[i]
		if g.periodic[i] {
			x = (x%d + d) % d
		}
		if x < 0 || x >= d {
			return None
		}
		rank = rank*d + x
	}
	return rank
}

func (g grid) shifted(rank, dim, disp int) int {
	at, d := g.coords(rank), g.dims[dim]
	switch {
	case g.periodic[dim]:
		disp %= d
	case disp <= -d || disp >= d: // the sum might overflow
		return None
	}
	at[dim] += disp
	return g.rank(at)
}

func (g grid) neighbors(rank int) (in, out []int) {
	for dim := range g.dims {
		in = append(in, g.shifted(rank, dim, -1), g.shifted(rank, dim, 1))
	}
	return in, slices.Clone(in)
}

// arrivals: where both neighbours of a dimension are the same rank, the message that the rank sends
// down arrives here from above (MPI 8.6).
func (g grid) arrivals(rank int) []int {
	in, _ := g.neighbors(rank)
	order := make([]int, len(in))
	for i := range order {
		order[i] = i
		if in[i] == in[i^1] {
			order[i] = i ^ 1
		}
	}
	return order
}
