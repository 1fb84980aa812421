package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// shown makes a test of an example: an error is printed.
type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// ranks runs body as n ranks, which a program gets from goulfm run -n.
func ranks(n int, body func(ctx context.Context, w *comm.Comm)) { commtest.Run(shown{}, n, body) }

func ExampleBarrier() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		err := collectives.Barrier(ctx, w)
		if w.Rank() == 0 {
			fmt.Println("all are here", err)
		}
	})
	// Output: all are here <nil>
}

func ExampleBcast() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		buf := make([]float64, 2)
		if w.Rank() == 3 {
			buf[0], buf[1] = 1.5, 2.5
		}
		err := collectives.Bcast(ctx, w, 3, buf)
		if w.Rank() == 0 {
			fmt.Println(buf, err)
		}
	})
	// Output: [1.5 2.5] <nil>
}

func ExampleBcastValue() {
	type options struct {
		Solver string
		Steps  int
	}
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		var o options
		if w.Rank() == 0 {
			o = options{"jacobi", 200}
		}
		err := collectives.BcastValue(ctx, w, 0, &o)
		if w.Rank() == 2 {
			fmt.Println(o, err)
		}
	})
	// Output: {jacobi 200} <nil>
}

func ExampleReduce() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		v := []int{w.Rank(), 1}
		if w.Rank() != 2 {
			_ = collectives.Reduce(ctx, w, 2, nil, v, collectives.Sum)
			return
		}
		err := collectives.Reduce(ctx, w, 2, v, v, collectives.Sum)
		fmt.Println(v, err)
	})
	// Output: [6 4] <nil>
}

func ExampleAllreduce() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		norm := []float64{float64(w.Rank()) / 4}
		err := collectives.Allreduce(ctx, w, norm, norm, collectives.Max)
		if w.Rank() == 0 {
			fmt.Println(norm, err)
		}
	})
	// Output: [0.75] <nil>
}

// An operation of one's own need not be commutative: lower ranks are on the left.
func ExampleCustom() {
	digits := collectives.Custom(func(acc, in []int) {
		for i := range acc {
			shift := 1
			for shift <= in[i] {
				shift *= 10
			}
			acc[i] = acc[i]*shift + in[i]
		}
	}, false)
	ranks(5, func(ctx context.Context, w *comm.Comm) {
		v := []int{w.Rank() + 1}
		err := collectives.Allreduce(ctx, w, v, v, digits)
		if w.Rank() == 4 {
			fmt.Println(v, err)
		}
	})
	// Output: [12345] <nil>
}

// Most programs combine one number each.
func ExampleAllreduceOne() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		steps, err := collectives.BcastOne(ctx, w, 0, 10*(1+w.Rank()))
		largest, err2 := collectives.AllreduceOne(ctx, w, w.Rank(), collectives.Max)
		sum, err3 := collectives.ReduceOne(ctx, w, 3, w.Rank(), collectives.Sum)
		before, err4 := collectives.ScanOne(ctx, w, w.Rank(), collectives.Sum)
		if w.Rank() == 3 {
			fmt.Println(steps, largest, sum, before, errors.Join(err, err2, err3, err4))
		}
	})
	// Output: 10 3 6 6 <nil>
}

// Any Go value, as gob encodes it.
func ExampleAllgatherValue() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		names, err := collectives.AllgatherValue(ctx, w, fmt.Sprint("rank ", w.Rank()))
		mine, err2 := collectives.ScatterValue(ctx, w, 0, names)
		all, err3 := collectives.AlltoallValue(ctx, w, names)
		longest, err4 := collectives.ReduceValue(ctx, w, 2, mine, func(a, b string) string { return a + "+" + b })
		if w.Rank() == 2 {
			fmt.Printf("%q\n%q %q %q %v\n", names, mine, all, longest, errors.Join(err, err2, err3, err4))
		}
	})
	// Output:
	// ["rank 0" "rank 1" "rank 2"]
	// "rank 2" ["rank 2" "rank 2" "rank 2"] "rank 0+rank 1+rank 2" <nil>
}

// The mean of all values and how they spread, in one pass: records are combined whole.
func ExampleCustomOf() {
	type moments struct{ N, Mean, Spread float64 }
	merge := collectives.CustomOf(func(acc, in []moments) {
		for i, b := range in {
			a := acc[i]
			n, d := a.N+b.N, b.Mean-a.Mean
			acc[i] = moments{n, a.Mean + d*b.N/n, a.Spread + b.Spread + d*d*a.N*b.N/n}
		}
	}, true)
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		mine := []moments{{N: 1, Mean: float64(w.Rank())}}
		err := collectives.Allreduce(ctx, w, mine, mine, merge)
		if w.Rank() == 0 {
			fmt.Println(mine, err)
		}
	})
	// Output: [{4 1.5 5}] <nil>
}

func ExampleGather() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		var all []int
		if w.Rank() == 0 {
			all = make([]int, 2*w.Size())
		}
		err := collectives.Gather(ctx, w, 0, all, []int{w.Rank(), 10 * w.Rank()})
		if w.Rank() == 0 {
			fmt.Println(all, err)
		}
	})
	// Output: [0 0 1 10 2 20] <nil>
}

func ExampleGatherValue() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		all, err := collectives.GatherValue(ctx, w, 1, fmt.Sprintf("rank %d", w.Rank()))
		if w.Rank() == 1 {
			fmt.Printf("%q %v\n", all, err)
		}
	})
	// Output: ["rank 0" "rank 1" "rank 2"] <nil>
}

func ExampleScatter() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		var all []int
		if w.Rank() == 0 {
			all = []int{1, 2, 3, 4, 5, 6}
		}
		mine := make([]int, 2)
		err := collectives.Scatter(ctx, w, 0, mine, all)
		if w.Rank() == 2 {
			fmt.Println(mine, err)
		}
	})
	// Output: [5 6] <nil>
}

func ExampleAllgather() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		all := make([]int, w.Size())
		err := collectives.Allgather(ctx, w, all, []int{w.Rank() * w.Rank()})
		if w.Rank() == 3 {
			fmt.Println(all, err)
		}
	})
	// Output: [0 1 4 9] <nil>
}

func ExampleAlltoall() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		v := []int{10*w.Rank() + 0, 10*w.Rank() + 1, 10*w.Rank() + 2}
		err := collectives.Alltoall(ctx, w, v, v)
		if w.Rank() == 1 {
			fmt.Println(v, err)
		}
	})
	// Output: [1 11 21] <nil>
}

// After a death the next collective fails at entry; the shrunk communicator works.
func ExampleBarrier_failure() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w) // in a program: the process dies
		}
		err := collectives.Barrier(ctx, w)
		if w.Rank() == 0 {
			fmt.Println(err)
			fmt.Println(comm.Recoverable(err))
		}
		s, err := w.Shrink(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		err = collectives.Barrier(ctx, s)
		if w.Rank() == 0 {
			fmt.Println(s.Size(), err)
		}
	})
	// Output:
	// barrier on world with rank 1: process failed
	// true
	// 2 <nil>
}

func ExampleIallreduce() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		sum := []int{0}
		r := collectives.Iallreduce(w, sum, []int{w.Rank() + 1}, collectives.Sum)
		// ... compute something else ...
		_, err := r.Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(sum, err)
		}
	})
	// Output: [6] <nil>
}

// Several collectives may be open at once, and be waited for together.
func ExampleIbarrier() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		v := []int{w.Rank()}
		err := comm.WaitAll(ctx, collectives.Ibarrier(w), collectives.Ibcast(w, 3, v))
		if w.Rank() == 0 {
			fmt.Println(v, err)
		}
	})
	// Output: [3] <nil>
}

func ExampleIbcast() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		v := []string{"", ""}[w.Rank()]
		buf := []byte("hello")
		if w.Rank() == 1 {
			clear(buf)
		}
		_, err := collectives.Ibcast(w, 0, buf).Wait(ctx)
		if w.Rank() == 1 {
			fmt.Println(v+string(buf), err)
		}
	})
	// Output: hello <nil>
}

func ExampleIreduce() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		most := []int{0}
		_, err := collectives.Ireduce(w, 0, most, []int{w.Rank() * 5}, collectives.Max).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(most, err)
		}
	})
	// Output: [15] <nil>
}

func ExampleIgather() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		all := make([]int, 3)
		_, err := collectives.Igather(w, 0, all, []int{w.Rank() + 7}).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(all, err)
		}
	})
	// Output: [7 8 9] <nil>
}

// Each rank has another number of elements, and only the root knows all of them.
func ExampleGatherv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		mine := []int{1, 2, 3}[:w.Rank()+1]
		var all, counts []int
		if w.Rank() == 0 {
			all, counts = make([]int, 6), []int{1, 2, 3}
		}
		err := collectives.Gatherv(ctx, w, 0, all, collectives.Blocks{Counts: counts}, mine)
		if w.Rank() == 0 {
			fmt.Println(all, err)
		}
	})
	// Output: [1 1 2 1 2 3] <nil>
}

// Displacements place the parts; elements between the parts are unchanged.
func ExampleIgatherv() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		all := []int{-1, -1, -1, -1, -1}
		_, err := collectives.Igatherv(w, 0, all, collectives.Blocks{Counts: []int{1, 1}, Displs: []int{3, 1}}, []int{w.Rank()}).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(all, err)
		}
	})
	// Output: [-1 1 -1 0 -1] <nil>
}

func ExampleIscatter() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		var all []int
		if w.Rank() == 0 {
			all = []int{10, 20, 30}
		}
		mine := []int{0}
		_, err := collectives.Iscatter(w, 0, mine, all).Wait(ctx)
		if w.Rank() == 2 {
			fmt.Println(mine, err)
		}
	})
	// Output: [30] <nil>
}

func ExampleScatterv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		mine := make([]int, w.Rank()+1)
		err := collectives.Scatterv(ctx, w, 0, mine, []int{1, 2, 3, 4, 5, 6}, collectives.Blocks{Counts: []int{1, 2, 3}})
		if w.Rank() == 2 {
			fmt.Println(mine, err)
		}
	})
	// Output: [4 5 6] <nil>
}

func ExampleIscatterv() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		mine := make([]int, 2)
		_, err := collectives.Iscatterv(w, 0, mine, []int{1, 2, 3}, collectives.Blocks{Counts: []int{2, 2}, Displs: []int{0, 1}}).Wait(ctx)
		if w.Rank() == 1 {
			fmt.Println(mine, err)
		}
	})
	// Output: [2 3] <nil>
}

func ExampleIallgather() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		all := make([]int, 4)
		_, err := collectives.Iallgather(w, all, []int{w.Rank() * w.Rank()}).Wait(ctx)
		if w.Rank() == 3 {
			fmt.Println(all, err)
		}
	})
	// Output: [0 1 4 9] <nil>
}

func ExampleAllgatherv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		all := make([]int, 6)
		err := collectives.Allgatherv(ctx, w, all, collectives.Blocks{Counts: []int{1, 2, 3}}, []int{7, 8, 9}[:w.Rank()+1])
		if w.Rank() == 1 {
			fmt.Println(all, err)
		}
	})
	// Output: [7 7 8 7 8 9] <nil>
}

func ExampleIallgatherv() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		all := make([]int, 3)
		_, err := collectives.Iallgatherv(w, all, collectives.Blocks{Counts: []int{1, 2}, Displs: []int{2, 0}}, []int{5, 6}[:w.Rank()+1]).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(all, err)
		}
	})
	// Output: [5 6 5] <nil>
}

func ExampleIalltoall() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		got := make([]int, 2)
		_, err := collectives.Ialltoall(w, got, []int{10 * w.Rank(), 10*w.Rank() + 1}).Wait(ctx)
		if w.Rank() == 1 {
			fmt.Println(got, err)
		}
	})
	// Output: [1 11] <nil>
}

// Rank r sends r+1 elements to everybody.
func ExampleAlltoallv() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		each := w.Rank() + 1
		src, got := make([]int, 3*each), make([]int, 6)
		for i := range src {
			src[i] = 10*w.Rank() + i/each
		}
		err := collectives.Alltoallv(ctx, w, got, collectives.Blocks{Counts: []int{1, 2, 3}}, src, collectives.Blocks{Counts: []int{each, each, each}})
		if w.Rank() == 2 {
			fmt.Println(got, err)
		}
	})
	// Output: [2 12 12 22 22 22] <nil>
}

func ExampleIalltoallv() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		got, one := make([]int, 2), []int{1, 1}
		_, err := collectives.Ialltoallv(w, got, collectives.Blocks{Counts: one, Displs: []int{1, 0}}, []int{w.Rank(), w.Rank()}, collectives.Blocks{Counts: one}).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(got, err)
		}
	})
	// Output: [1 0] <nil>
}

func ExampleReduceScatterBlock() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		mine := []int{0}
		err := collectives.ReduceScatterBlock(ctx, w, mine, []int{1, 2, 3}, collectives.Sum)
		if w.Rank() == 2 {
			fmt.Println(mine, err)
		}
	})
	// Output: [9] <nil>
}

func ExampleIreduceScatterBlock() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		mine := []int{0}
		_, err := collectives.IreduceScatterBlock(w, mine, []int{w.Rank(), w.Rank() + 5}, collectives.Max).Wait(ctx)
		if w.Rank() == 1 {
			fmt.Println(mine, err)
		}
	})
	// Output: [6] <nil>
}

func ExampleReduceScatter() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		mine := make([]int, 1+w.Rank())
		err := collectives.ReduceScatter(ctx, w, mine, []int{1, 2, 3}, []int{1, 2}, collectives.Sum)
		if w.Rank() == 1 {
			fmt.Println(mine, err)
		}
	})
	// Output: [4 6] <nil>
}

func ExampleIreduceScatter() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		mine := make([]int, 2-w.Rank())
		_, err := collectives.IreduceScatter(w, mine, []int{1, 2, 3}, []int{2, 1}, collectives.Sum).Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(mine, err)
		}
	})
	// Output: [2 4] <nil>
}

func ExampleScan() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		upToMe := []int{0}
		err := collectives.Scan(ctx, w, upToMe, []int{w.Rank() + 1}, collectives.Sum)
		if w.Rank() == 3 {
			fmt.Println(upToMe, err)
		}
	})
	// Output: [10] <nil>
}

func ExampleIscan() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		product := []int{0}
		_, err := collectives.Iscan(w, product, []int{w.Rank() + 1}, collectives.Prod).Wait(ctx)
		if w.Rank() == 2 {
			fmt.Println(product, err)
		}
	})
	// Output: [6] <nil>
}

// The start of this rank's elements among all: the total of the lower ranks.
func ExampleExscan() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		begin := []int{0}
		err := collectives.Exscan(ctx, w, begin, []int{10 * (w.Rank() + 1)}, collectives.Sum)
		if w.Rank() == 3 {
			fmt.Println(begin, err)
		}
	})
	// Output: [60] <nil>
}

func ExampleIexscan() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		begin := []int{0}
		_, err := collectives.Iexscan(w, begin, []int{5}, collectives.Sum).Wait(ctx)
		if w.Rank() == 1 {
			fmt.Println(begin, err)
		}
	})
	// Output: [5] <nil>
}

// The largest error of all ranks, and its rank.
func ExampleAllreduceLoc() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		worst := []collectives.Loc[float64]{{Value: []float64{0.5, 2.5, 1.5}[w.Rank()], Index: w.Rank()}}
		err := collectives.AllreduceLoc(ctx, w, worst, worst, collectives.MaxLoc)
		if w.Rank() == 0 {
			fmt.Println(worst, err)
		}
	})
	// Output: [{2.5 1}] <nil>
}

func ExampleReduceLoc() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		least := []collectives.Loc[int]{{Value: 7, Index: w.Rank()}}
		err := collectives.ReduceLoc(ctx, w, 2, least, least, collectives.MinLoc)
		if w.Rank() == 2 {
			fmt.Println(least, err) // of equal values the lowest index
		}
	})
	// Output: [{7 0}] <nil>
}

func ExampleAlgorithm() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		all := make([]int, 4)
		err := collectives.Allgather(ctx, w, all, []int{w.Rank()}, collectives.Algorithm("ring"))
		wrong := collectives.Allgather(ctx, w, all, []int{w.Rank()}, collectives.Algorithm("rnig"))
		if w.Rank() == 0 {
			fmt.Println(all, err)
			fmt.Println(wrong)
		}
	})
	// Output:
	// [0 1 2 3] <nil>
	// allgather on world: not supported: no algorithm "rnig" of allgather: one of memory, linear, ring, recursive-doubling, bruck, neighbor-exchange, two-level
}

func ExampleReproducible() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		v := []float64{[]float64{1e16, 1, -1e16, 1}[w.Rank()]}
		err := collectives.Allreduce(ctx, w, v, v, collectives.Sum, collectives.Reproducible())
		if w.Rank() == 0 {
			fmt.Println(v, err) // (1e16 + 1) + (-1e16 + 1), here and in each run
		}
	})
	// Output: [0] <nil>
}

// On a ring of three each rank sends to its two neighbours.
func ExampleNeighborAllgather() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		ring, err := w.Cart(ctx, []int{3}, []bool{true}, false)
		if err != nil {
			fmt.Println(err)
			return
		}
		from := make([]int, 2)
		err = collectives.NeighborAllgather(ctx, ring, from, []int{w.Rank()})
		if w.Rank() == 0 {
			fmt.Println("below and above:", from, err)
		}
	})
	// Output: below and above: [2 1] <nil>
}
