package comm_test

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/comm"
)

// The even ranks, backwards.
func ExampleComm_Create() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		g, err := w.Group().Incl(2, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		c, err := w.Create(ctx, g)
		if w.Rank() == 0 {
			fmt.Println(c.Rank(), "of", c.Size(), err)
		}
		if w.Rank() == 1 {
			fmt.Println(c == nil, err)
		}
	})
	// Unordered output:
	// 1 of 2 <nil>
	// true <nil>
}

// Two ranks make a communicator, without any part of the third.
func ExampleComm_CreateGroup() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		g, err := w.Group().Excl(1)
		if err != nil || g.Rank() == comm.Undefined {
			return
		}
		c, err := w.CreateGroup(ctx, g, 0)
		if g.Rank() == 0 {
			fmt.Println(c.Group(), err)
		}
	})
	// Output: [0 2] <nil>
}

func ExampleComm_SplitNode() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		node, err := w.SplitNode(ctx)
		if w.Rank() == 2 {
			fmt.Println(node.Rank(), "of", node.Size(), "on this node", err)
		}
	})
	// Output: 2 of 3 on this node <nil>
}

// A grid of two rows, of which the columns are closed to rings.
func ExampleComm_Cart() {
	ranks(6, func(ctx context.Context, w *comm.Comm) {
		dims, err := comm.DimsCreate(w.Size(), []int{2, 0})
		if err != nil {
			fmt.Println(err)
			return
		}
		c, err := w.Cart(ctx, dims, []bool{true, false}, false)
		if err != nil || c.Rank() != 5 {
			return
		}
		at, _ := c.CartCoords(c.Rank())
		left, right, _ := c.CartShift(1, 1)
		corner, _ := c.CartRank([]int{2, 0}) // row 2 is row 0 again
		fmt.Println(dims, at, left, right == comm.None, corner)
		in, _ := c.Neighbors()
		fmt.Println(in)
	})
	// Output:
	// [2 3] [1 2] 4 true 0
	// [2 2 4 -2]
}

func ExampleComm_Graph() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		star, err := w.Graph(ctx, [][]int{{1, 2}, {0}, {0}})
		if w.Rank() == 0 {
			in, out := star.Neighbors()
			fmt.Println(in, out, err)
		}
	})
	// Output: [1 2] [1 2] <nil>
}

// A ring in one direction, of which each rank knows its own two edges.
func ExampleComm_DistGraph() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		before, after := (w.Rank()+3)%4, (w.Rank()+1)%4
		ring, err := w.DistGraph(ctx, []int{before}, []int{after})
		if w.Rank() == 0 {
			in, out := ring.Neighbors()
			fmt.Println(in, out, err)
		}
	})
	// Output: [3] [1] <nil>
}
