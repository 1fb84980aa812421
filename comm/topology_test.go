package comm_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestCartIsRowMajor: coordinates, ranks and shifts of every position, with and
// without borders, and two members too many.
func TestCartIsRowMajor(t *testing.T) {
	dims, periodic := []int{2, 3}, []bool{true, false}
	commtest.Run(t, 8, func(ctx context.Context, w *comm.Comm) {
		c, err := w.Cart(ctx, dims, periodic, w != nil)
		ok(t, "cart", err)
		if w.Rank() >= 6 {
			if c != nil {
				t.Errorf("rank %d is in a grid of 6", w.Rank())
			}
			return
		}
		if c.Size() != 6 || c.Rank() != w.Rank() {
			t.Errorf("rank %d is %d of %d", w.Rank(), c.Rank(), c.Size())
		}
		for r := range 6 {
			at, err := c.CartCoords(r)
			if want := []int{r / 3, r % 3}; err != nil || !slices.Equal(at, want) {
				t.Errorf("rank %d is at %v, %v, want %v", r, at, err, want)
			}
			for _, up := range []int{-4, -2, 0, 2} { // around the periodic dimension
				back, err := c.CartRank([]int{at[0] + up, at[1]})
				if err != nil || back != r {
					t.Errorf("at %v is %d, %v, want %d", at, back, err, r)
				}
			}
		}
		x, y := c.Rank()/3, c.Rank()%3
		column := func(y int) int {
			if y < 0 || y > 2 {
				return comm.None
			}
			return x*3 + y
		}
		for _, disp := range []int{-3, -1, 0, 1, 2, math.MaxInt, math.MinInt + 1} {
			src, dst, err := c.CartShift(0, disp)
			if other := (x+disp%2+2)%2*3 + y; err != nil || src != other || dst != other { // two rows: up is down
				t.Errorf("rank %d, rows by %d: %d %d %v", c.Rank(), disp, src, dst, err)
			}
			below, above := comm.None, comm.None
			if -3 < disp && disp < 3 {
				below, above = column(y-disp), column(y+disp)
			}
			src, dst, err = c.CartShift(1, disp)
			if err != nil || src != below || dst != above {
				t.Errorf("rank %d, columns by %d: %d %d %v, want %d %d", c.Rank(), disp, src, dst, err, below, above)
			}
		}
		in, out := c.Neighbors()
		if want := []int{(1-x)*3 + y, (1-x)*3 + y, column(y - 1), column(y + 1)}; !slices.Equal(in, want) || !slices.Equal(out, want) {
			t.Errorf("rank %d: neighbors %v %v, want %v", c.Rank(), in, out, want)
		}
		in[0] = 99
		if again, _ := c.Neighbors(); out[0] == 99 || again[0] == 99 {
			t.Error("the results of Neighbors are not the caller's own")
		}
		src, dst, err := c.CartShift(1, 1)
		ok(t, "shift", err)
		got := []int{-1}
		_, err = comm.SendRecv(ctx, c.To(dst), []int{c.Rank()}, c.From(src), got) // None at the borders
		if err != nil || src != comm.None && got[0] != src {
			t.Errorf("shift: %v, %v", got, err)
		}
	})
}

// TestCartWithoutDimensions is a point (MPI 8.5.1).
func TestCartWithoutDimensions(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		c, err := w.Cart(ctx, nil, nil, false)
		ok(t, "cart", err)
		if w.Rank() == 1 && c != nil || w.Rank() == 0 && c.Size() != 1 {
			t.Errorf("rank %d: %v", w.Rank(), c)
		}
		if c == nil {
			return
		}
		at, err := c.CartCoords(0)
		rank, err2 := c.CartRank(nil)
		if err != nil || err2 != nil || len(at) != 0 || rank != 0 {
			t.Errorf("%v %v, %d %v", at, err, rank, err2)
		}
	})
}

// TestTopologiesWithWrongArguments: one member passes them, all get an error, and the next call
// works.
func TestTopologiesWithWrongArguments(t *testing.T) {
	const n = 4
	cart := func(dims []int, periodic ...bool) func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) {
		return func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Cart(ctx, dims, periodic, false) }
	}
	graph := func(g ...[]int) func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) {
		return func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Graph(ctx, g) }
	}
	dist := func(in, out []int) func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) {
		return func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.DistGraph(ctx, in, out) }
	}
	square, path, alone := cart([]int{2, 2}, true, true), graph([]int{1}, []int{0, 2}, []int{1}), dist(nil, nil)
	for _, c := range []struct {
		name        string
		right, odd  func(ctx context.Context, w *comm.Comm) (*comm.Comm, error)
		mine, other error
	}{
		{"too many positions", square, cart([]int{2, 3}, true, true), comm.ErrArgument, comm.ErrPeerArgument},
		{"more than fit an int", square, cart([]int{math.MaxInt, math.MaxInt}, true, true), comm.ErrArgument, comm.ErrPeerArgument},
		{"a dimension of nothing", square, cart([]int{4, 0}, true, true), comm.ErrArgument, comm.ErrPeerArgument},
		{"a dimension below nothing", square, cart([]int{-2, -2}, true, true), comm.ErrArgument, comm.ErrPeerArgument},
		{"no word about periods", square, cart([]int{2, 2}), comm.ErrLength, comm.ErrPeerArgument},
		{"another shape", square, cart([]int{4, 1}, true, true), comm.ErrMismatch, comm.ErrMismatch},
		{"fewer positions", square, cart([]int{2, 1}, true, true), comm.ErrMismatch, comm.ErrMismatch},
		{"another border", square, cart([]int{2, 2}, true, false), comm.ErrMismatch, comm.ErrMismatch},
		{"another call", square, path, comm.ErrMismatch, comm.ErrMismatch},
		{"too many nodes", path, graph(nil, nil, nil, nil, nil), comm.ErrLength, comm.ErrPeerArgument},
		{"no such node", path, graph([]int{1}, []int{0, 3}, nil), comm.ErrRank, comm.ErrPeerArgument},
		{"another graph", path, graph([]int{1}, []int{0}, []int{1}), comm.ErrMismatch, comm.ErrMismatch},
		{"the same numbers, otherwise divided", path, graph([]int{1, 0}, []int{2}, []int{1}), comm.ErrMismatch, comm.ErrMismatch},
		{"no such source", alone, dist([]int{n}, nil), comm.ErrRank, comm.ErrPeerArgument},
		{"no such destination", alone, dist(nil, []int{comm.None}), comm.ErrRank, comm.ErrPeerArgument},
		{"half an edge", alone, dist([]int{0}, nil), comm.ErrMismatch, comm.ErrMismatch},
	} {
		for odd := range n {
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				call, class := c.right, c.other
				if w.Rank() == odd {
					call, class = c.odd, c.mine
				}
				made, err := call(ctx, w)
				want(t, c.name, err, class)
				if made != nil {
					t.Errorf("%s: made %v", c.name, made.Group())
				}
				if class == comm.ErrPeerArgument {
					wantRanks(t, err, odd)
				}
				made, err = c.right(ctx, w)
				ok(t, c.name, err)
				if made != nil {
					works(ctx, t, made)
				}
			})
		}
	}
}

// TestGridCallsWithWrongArguments, and on communicators that are no grid.
func TestGridCallsWithWrongArguments(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		c, err := w.Cart(ctx, []int{2, 2}, []bool{true, false}, false)
		ok(t, "cart", err)
		g, err := w.Graph(ctx, [][]int{{}, {}, {}, {}})
		ok(t, "graph", err)
		for _, x := range []struct {
			c     *comm.Comm
			class error
		}{{w, comm.ErrUnsupported}, {g, comm.ErrUnsupported}, {c, comm.ErrRank}} {
			for _, rank := range []int{-1, 4, comm.None} {
				_, err := x.c.CartCoords(rank)
				want(t, "coords", err, x.class)
			}
			for _, coords := range [][]int{{0, 2}, {0, -1}} {
				_, err = x.c.CartRank(coords)
				want(t, "rank", err, x.class)
			}
		}
		for _, coords := range [][]int{nil, {0}, {0, 0, 0}} {
			_, err = c.CartRank(coords)
			want(t, "rank", err, comm.ErrLength)
		}
		for _, dim := range []int{-1, 2} {
			src, dst, err := c.CartShift(dim, 1)
			want(t, "shift", err, comm.ErrArgument)
			if src != comm.None || dst != comm.None {
				t.Errorf("%d %d", src, dst)
			}
		}
		_, _, err = w.CartShift(0, 1)
		want(t, "shift", err, comm.ErrUnsupported)
	})
}

// TestTopologyOfDescendants: only a duplicate has the topology.
func TestTopologyOfDescendants(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		c, err := w.Cart(ctx, []int{4}, []bool{true}, false)
		ok(t, "cart", err)
		d, err := c.Dup(ctx)
		ok(t, "dup", err)
		s, err := d.Split(ctx, 0, -d.Rank())
		ok(t, "split", err)
		m, err := d.Create(ctx, d.Group())
		ok(t, "create", err)
		g, err := d.CreateGroup(ctx, d.Group(), 0)
		ok(t, "create group", err)
		r, err := d.Shrink(ctx)
		ok(t, "shrink", err)
		for _, x := range []struct {
			c    *comm.Comm
			want []int
		}{{w, nil}, {c, []int{(w.Rank() + 3) % 4, (w.Rank() + 1) % 4}}, {d, []int{(w.Rank() + 3) % 4, (w.Rank() + 1) % 4}}, {s, nil}, {m, nil}, {g, nil}, {r, nil}} {
			if in, out := x.c.Neighbors(); !slices.Equal(in, x.want) || !slices.Equal(out, x.want) {
				t.Errorf("%s: neighbors %v %v, want %v", door.Engine(x.c).Name(), in, out, x.want)
			}
		}
	})
}

// TestGraphNeighborsAreAsGiven, at the members that are nodes.
func TestGraphNeighborsAreAsGiven(t *testing.T) {
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		given := [][]int{{3, 1}, {0, 0}, {}, {2}}
		c, err := w.Graph(ctx, given)
		ok(t, "graph", err)
		if w.Rank() == 4 {
			if c != nil {
				t.Error("who is no node is in the graph")
			}
			return
		}
		want := slices.Clone(given[w.Rank()])
		clear(given[w.Rank()]) // it is the caller's
		if in, out := c.Neighbors(); !slices.Equal(in, want) || !slices.Equal(out, want) || c.Size() != 4 {
			t.Errorf("rank %d of %d: %v %v", c.Rank(), c.Size(), in, out)
		}
	})
}

// TestDistGraphNeighborsAreAsGiven, in the order of each member.
func TestDistGraphNeighborsAreAsGiven(t *testing.T) {
	in := [][]int{{2, 1, 2}, {0}, {2}}
	out := [][]int{{1}, {0}, {0, 2, 0}}
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		c, err := w.DistGraph(ctx, in[w.Rank()], out[w.Rank()])
		ok(t, "graph", err)
		gotIn, gotOut := c.Neighbors()
		if !slices.Equal(gotIn, in[w.Rank()]) || !slices.Equal(gotOut, out[w.Rank()]) {
			t.Errorf("rank %d: %v %v", c.Rank(), gotIn, gotOut)
		}
		works(ctx, t, c)
	})
}

// TestTopologiesWithADeadMember fail at all alike (R56).
func TestTopologiesWithADeadMember(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 3 {
			commtest.Kill(w)
		}
		_, err := w.Cart(ctx, []int{2}, []bool{false}, false) // of which 3 is no part
		want(t, "cart", err, ulfm.ErrProcFailed)
		wantRanks(t, err, 3)
		_, err = w.Graph(ctx, [][]int{{1}, {0}})
		want(t, "graph", err, ulfm.ErrProcFailed)
		_, err = w.DistGraph(ctx, nil, nil)
		want(t, "dist graph", err, ulfm.ErrProcFailed)
		_, err = w.SplitNode(ctx)
		want(t, "split node", err, ulfm.ErrProcFailed)
		_, err = w.Create(ctx, w.Group().Difference(w.GetFailed()))
		want(t, "create", err, ulfm.ErrProcFailed)
	})
}

// TestDimsCreate: the examples of MPI 8.5.2, and impossible arguments.
func TestDimsCreate(t *testing.T) {
	for _, c := range []struct {
		n          int
		dims, want []int
	}{
		{6, []int{0, 0}, []int{3, 2}},
		{7, []int{0, 0}, []int{7, 1}},
		{6, []int{0, 3, 0}, []int{2, 3, 1}},
		{12, []int{0, 0, 0}, []int{3, 2, 2}},
		{16, []int{0, 0}, []int{4, 4}},
		{24, []int{0, 0, 0}, []int{4, 3, 2}},
		{1, []int{0, 0, 0}, []int{1, 1, 1}},
		{60, []int{0, 5, 0, 0}, []int{3, 5, 2, 2}},
		{100, []int{0, 0}, []int{10, 10}},
		{1 << 30, []int{0, 0, 0}, []int{1 << 10, 1 << 10, 1 << 10}},
		{1<<31 - 1, []int{0, 0}, []int{1<<31 - 1, 1}},
		{735134400, make([]int, 29), append([]int{17, 13, 11, 7, 5, 5, 3, 3, 3, 2, 2, 2, 2, 2, 2}, slices.Repeat([]int{1}, 14)...)},
		{6, []int{2, 3}, []int{2, 3}},
		{1, nil, []int{}},
		{7, []int{0, 3, 0}, nil},
		{6, []int{2, 2}, nil},
		{6, []int{2, 1}, nil},
		{2, nil, nil},
		{0, []int{0}, nil},
		{-4, []int{0}, nil},
		{4, []int{-2, -2}, nil},
		{4, []int{-2, 0}, nil},
		{1 << 31, []int{0}, nil},
	} {
		given := slices.Clone(c.dims)
		got, err := comm.DimsCreate(c.n, c.dims)
		if c.want == nil {
			want(t, fmt.Sprint(c.n, c.dims), err, comm.ErrArgument)
			continue
		}
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(given, c.dims) {
			t.Errorf("%d in %v: %v, %v, want %v", c.n, c.dims, got, err, c.want)
		}
	}
}

// TestDimsCreateIsBalanced: compared with all ways there are.
func TestDimsCreateIsBalanced(t *testing.T) {
	for n := 1; n <= 200; n++ {
		for k := 1; k <= 4; k++ {
			got, err := comm.DimsCreate(n, make([]int, k))
			if best := leastShape(n, k, n); err != nil || !slices.Equal(got, best) {
				t.Errorf("%d in %d: %v, %v, want %v", n, k, got, err, best)
			}
		}
	}
}

// leastShape tries every list of k falling factors of n that are at most limit.
func leastShape(n, k, limit int) []int {
	if k == 0 {
		if n == 1 {
			return []int{}
		}
		return nil
	}
	for d := 1; d <= min(n, limit); d++ {
		if n%d != 0 {
			continue
		}
		if rest := leastShape(n/d, k-1, d); rest != nil {
			return append([]int{d}, rest...)
		}
	}
	return nil
}
