package collectives_test

import (
	"context"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestNeighborsOfAGrid: data that a member sends down arrive from above at its neighbour, also
// where both neighbours are one rank, or the member itself; a border changes nothing.
func TestNeighborsOfAGrid(t *testing.T) {
	for _, c := range []struct {
		dims     []int
		periodic []bool
	}{
		{[]int{1}, []bool{true}}, {[]int{1}, []bool{false}}, {[]int{2}, []bool{true}}, {[]int{2}, []bool{false}}, {[]int{3}, []bool{true}},
		{[]int{2, 3}, []bool{true, false}}, {[]int{2, 2}, []bool{true, true}}, {[]int{1, 2, 2}, []bool{true, true, false}}, {[]int{3, 2, 1}, []bool{false, true, true}},
	} {
		n := 1
		for _, d := range c.dims {
			n *= d
		}
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			grid, err := w.Cart(ctx, c.dims, c.periodic, false)
			if err != nil {
				t.Error(err)
				return
			}
			in, _ := grid.Neighbors()
			var sent, counts []int
			want, wantGathered := make([]int, len(in)), make([]int, len(in))
			for i := range in {
				sent, counts = append(sent, 100*w.Rank()+i), append(counts, 1)
				want[i], wantGathered[i] = -1, -1
				if in[i] != comm.None {
					want[i], wantGathered[i] = 100*in[i]+i^1, in[i]
				}
			}
			fresh := func() []int { return slices.Repeat([]int{-1}, len(in)) }
			wait := func(r comm.Request) error {
				_, err := r.Wait(ctx)
				return err
			}
			check := func(what string, got, want []int, err error) {
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s on %v, periodic %v, rank %d: %v, want %v, %v", what, c.dims, c.periodic, w.Rank(), got, want, err)
				}
			}
			got := fresh()
			check("alltoall", got, want, collectives.NeighborAlltoall(ctx, grid, got, sent))
			got = fresh()
			check("alltoallv", got, want, collectives.NeighborAlltoallv(ctx, grid, got, collectives.Blocks{Counts: counts}, sent, collectives.Blocks{Counts: counts}))
			mine := []int{w.Rank()}
			got = fresh()
			check("allgather", got, wantGathered, collectives.NeighborAllgather(ctx, grid, got, mine))
			got = fresh()
			check("allgatherv", got, wantGathered, collectives.NeighborAllgatherv(ctx, grid, got, collectives.Blocks{Counts: counts}, mine))
			got = fresh()
			check("ialltoall", got, want, wait(collectives.IneighborAlltoall(grid, got, sent)))
			got = fresh()
			check("ialltoallv", got, want, wait(collectives.IneighborAlltoallv(grid, got, collectives.Blocks{Counts: counts}, sent, collectives.Blocks{Counts: counts})))
			got = fresh()
			check("iallgather", got, wantGathered, wait(collectives.IneighborAllgather(grid, got, mine)))
			got = fresh()
			check("iallgatherv", got, wantGathered, wait(collectives.IneighborAllgatherv(grid, got, collectives.Blocks{Counts: counts}, mine)))
		})
	}
}

// TestNeighborsOfAGraph: a member without edges is in a topology all the same.
func TestNeighborsOfAGraph(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		edges := [][2][]int{{{1}, {1}}, {{0}, {0}}, {}}[w.Rank()]
		g, err := w.DistGraph(ctx, edges[0], edges[1])
		if err != nil {
			t.Error(err)
			return
		}
		got := make([]int, len(edges[0]))
		if err := collectives.NeighborAllgather(ctx, g, got, []int{w.Rank()}); err != nil || !slices.Equal(got, edges[0]) {
			t.Errorf("rank %d heard %v, %v", w.Rank(), got, err)
		}
	})
}
