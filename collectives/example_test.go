package collectives_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// shown makes a test of an example: what goes wrong is printed.
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
			fmt.Println(ulfm.Recoverable(err))
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
