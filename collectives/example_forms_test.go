package collectives_test

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

func ExampleBlocks() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		all := make([]int, 5)
		blocks := collectives.Blocks{Counts: []int{1, 2}, Displs: []int{3, 0}}
		err := collectives.Allgatherv(ctx, w, all, blocks, []int{8, 9}[:w.Rank()+1])
		if w.Rank() == 0 {
			fmt.Println(all, err)
		}
	})
	// Output: [8 9 0 8 0] <nil>
}

func ExampleBcastOne() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		v, err := collectives.BcastOne(ctx, w, 2, 10*w.Rank())
		if w.Rank() == 0 {
			fmt.Println(v, err)
		}
	})
	// Output: 20 <nil>
}

func ExampleReduceOne() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		product, err := collectives.ReduceOne(ctx, w, 0, w.Rank()+2, collectives.Prod)
		if w.Rank() == 0 {
			fmt.Println(product, err)
		}
	})
	// Output: 24 <nil>
}

func ExampleScanOne() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		sum, err := collectives.ScanOne(ctx, w, w.Rank()+1, collectives.Sum)
		if w.Rank() == 2 {
			fmt.Println(sum, err)
		}
	})
	// Output: 6 <nil>
}

func ExampleReduceValue() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		mine := fmt.Sprint("rank ", w.Rank())
		all, err := collectives.ReduceValue(ctx, w, 0, mine, func(a, b string) string { return a + ", " + b })
		if w.Rank() == 0 {
			fmt.Println(all, err)
		}
	})
	// Output: rank 0, rank 1, rank 2 <nil>
}

func ExampleScatterValue() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		var tasks []string
		if w.Rank() == 0 {
			tasks = []string{"read", "write"}
		}
		task, err := collectives.ScatterValue(ctx, w, 0, tasks)
		if w.Rank() == 1 {
			fmt.Println(task, err)
		}
	})
	// Output: write <nil>
}

func ExampleAlltoallValue() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		to := []string{fmt.Sprint(w.Rank(), " to 0"), fmt.Sprint(w.Rank(), " to 1")}
		from, err := collectives.AlltoallValue(ctx, w, to)
		if w.Rank() == 1 {
			fmt.Printf("%q %v\n", from, err)
		}
	})
	// Output: ["0 to 1" "1 to 1"] <nil>
}

func ExampleReplace() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		v := []int{10 * w.Rank()}
		err := collectives.Allreduce(ctx, w, v, v, collectives.Replace)
		if w.Rank() == 0 {
			fmt.Println(v, err) // of the highest rank
		}
	})
	// Output: [20] <nil>
}

func ExampleOp() {
	var op collectives.Op[float64] = collectives.Max
	first := collectives.Custom(func(_, _ []float64) {}, false)
	fmt.Println(op, op.Func() == nil, first, first.Func() == nil)
	// Output: max true custom false
}

func ExampleOp_String() {
	var op collectives.Op[int] = collectives.BXor
	fmt.Println(op.String())
	// Output: bxor
}

func ExampleOp_Func() {
	sum := collectives.Custom(func(acc, in []int) {
		for i := range acc {
			acc[i] += in[i]
		}
	}, true)
	acc := []int{1, 2}
	sum.Func()(acc, []int{10, 20})
	fmt.Println(acc)
	// Output: [11 22]
}

// ring makes a communicator in which each rank has two neighbours, below and above.
func ring(ctx context.Context, w *comm.Comm) *comm.Comm {
	c, err := w.Cart(ctx, []int{w.Size()}, []bool{true}, false)
	if err != nil {
		fmt.Println(err)
	}
	return c
}

func ExampleNeighborAllgatherv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		c, mine := ring(ctx, w), []int{7, 8, 9}[:w.Rank()+1]
		from := make([]int, 5) // rank 0: 3 elements of rank 2 below, 2 of rank 1 above
		sizes := [][]int{{3, 2}, {1, 3}, {2, 1}}[w.Rank()]
		err := collectives.NeighborAllgatherv(ctx, c, from, collectives.Blocks{Counts: sizes}, mine)
		if w.Rank() == 0 {
			fmt.Println(from, err)
		}
	})
	// Output: [7 8 9 7 8] <nil>
}

func ExampleNeighborAlltoall() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		c, from := ring(ctx, w), make([]int, 2)
		err := collectives.NeighborAlltoall(ctx, c, from, []int{-w.Rank(), w.Rank()}) // below, above
		if w.Rank() == 0 {
			fmt.Println(from, err)
		}
	})
	// Output: [2 -1] <nil>
}

func ExampleNeighborAlltoallv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		c, from := ring(ctx, w), make([]int, 3)
		up := collectives.Blocks{Counts: []int{1, 2}}   // one element goes below, two go above
		down := collectives.Blocks{Counts: []int{2, 1}} // two come from below, one comes from above
		err := collectives.NeighborAlltoallv(ctx, c, from, down, []int{-w.Rank(), w.Rank(), 9}, up)
		if w.Rank() == 0 {
			fmt.Println(from, err)
		}
	})
	// Output: [2 9 -1] <nil>
}

func ExampleIneighborAllgather() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		c, from := ring(ctx, w), make([]int, 2)
		_, err := collectives.IneighborAllgather(c, from, []int{w.Rank()}).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(from, err)
		}
	})
	// Output: [2 1] <nil>
}

func ExampleIneighborAllgatherv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		c, from := ring(ctx, w), make([]int, 3)
		blocks := collectives.Blocks{Counts: []int{1, 1}, Displs: []int{2, 0}}
		_, err := collectives.IneighborAllgatherv(c, from, blocks, []int{w.Rank()}).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(from, err)
		}
	})
	// Output: [1 0 2] <nil>
}

func ExampleIneighborAlltoall() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		c, from := ring(ctx, w), make([]int, 2)
		_, err := collectives.IneighborAlltoall(c, from, []int{-w.Rank(), w.Rank()}).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(from, err)
		}
	})
	// Output: [2 -1] <nil>
}

func ExampleIneighborAlltoallv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		c, from := ring(ctx, w), []int{5}
		up := collectives.Blocks{Counts: []int{0, 1}} // nothing goes below
		down := collectives.Blocks{Counts: []int{1, 0}}
		_, err := collectives.IneighborAlltoallv(c, from, down, []int{w.Rank()}, up).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(from, err)
		}
	})
	// Output: [2] <nil>
}

// masterAndWorkers runs body with an intercommunicator of rank 0 and of ranks 1 and 2. root is the
// root argument of a collective whose root is the master.
func masterAndWorkers(body func(ctx context.Context, ic *comm.Intercomm, root int)) {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		ic, err := commtest.Intercomm(ctx, w, []int{0}, []int{1, 2}) // or w.Spawn
		if err != nil {
			fmt.Println(err)
			return
		}
		body(ctx, ic, []int{collectives.Root, 0, 0}[w.Rank()])
	})
}

func ExampleInterBarrier() {
	masterAndWorkers(func(ctx context.Context, ic *comm.Intercomm, root int) {
		err := collectives.InterBarrier(ctx, ic)
		if root == collectives.Root {
			fmt.Println("both groups are here", err)
		}
	})
	// Output: both groups are here <nil>
}

func ExampleInterBcast() {
	masterAndWorkers(func(ctx context.Context, ic *comm.Intercomm, root int) {
		v := []int{0}
		if root == collectives.Root {
			v[0] = 5
		}
		err := collectives.InterBcast(ctx, ic, root, v)
		if root != collectives.Root && ic.Rank() == 1 {
			fmt.Println(v, err)
		}
	})
	// Output: [5] <nil>
}

func ExampleInterReduce() {
	masterAndWorkers(func(ctx context.Context, ic *comm.Intercomm, root int) {
		sum := []int{0}
		err := collectives.InterReduce(ctx, ic, root, sum, []int{ic.Rank() + 1}, collectives.Sum)
		if root == collectives.Root {
			fmt.Println(sum, err)
		}
	})
	// Output: [3] <nil>
}

func ExampleInterAllreduce() {
	masterAndWorkers(func(ctx context.Context, ic *comm.Intercomm, root int) {
		sum, mine := []int{0}, []int{ic.Rank() + 1}
		err := collectives.InterAllreduce(ctx, ic, sum, mine, collectives.Sum)
		if root == collectives.Root {
			fmt.Println(sum, err) // of the workers
		}
	})
	// Output: [3] <nil>
}

func ExampleInterScatter() {
	masterAndWorkers(func(ctx context.Context, ic *comm.Intercomm, root int) {
		part := []int{0}
		err := collectives.InterScatter(ctx, ic, root, part, []int{6, 7})
		if root != collectives.Root && ic.Rank() == 1 {
			fmt.Println(part, err)
		}
	})
	// Output: [7] <nil>
}

func ExampleInterAlltoall() {
	masterAndWorkers(func(ctx context.Context, ic *comm.Intercomm, root int) {
		got, src := make([]int, ic.RemoteSize()), []int{ic.Rank() + 1, ic.Rank() + 2}[:ic.RemoteSize()]
		err := collectives.InterAlltoall(ctx, ic, got, src)
		if root == collectives.Root {
			fmt.Println(got, err)
		}
	})
	// Output: [1 2] <nil>
}
