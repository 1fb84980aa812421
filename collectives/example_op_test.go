package collectives_test

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// combined prints the reduction of one number of each rank.
func combined(op collectives.Op[int], values ...int) {
	ranks(len(values), func(ctx context.Context, w *comm.Comm) {
		v, err := collectives.AllreduceOne(ctx, w, values[w.Rank()], op)
		if w.Rank() == 0 {
			fmt.Println(op, v, err)
		}
	})
}

func ExampleSum() {
	combined(collectives.Sum, 0, 1, 2)
	// Output: sum 3 <nil>
}

func ExampleProd() {
	combined(collectives.Prod, 1, 2, 3)
	// Output: prod 6 <nil>
}

func ExampleMax() {
	combined(collectives.Max, 0, 1, 2)
	// Output: max 2 <nil>
}

func ExampleMin() {
	combined(collectives.Min, 0, 1, 2)
	// Output: min 0 <nil>
}

func ExampleBAnd() {
	combined(collectives.BAnd, 7, 6, 14)
	// Output: band 6 <nil>
}

func ExampleBOr() {
	combined(collectives.BOr, 1, 2, 4)
	// Output: bor 7 <nil>
}

func ExampleBXor() {
	combined(collectives.BXor, 1, 3, 4)
	// Output: bxor 6 <nil>
}

func ExampleLAnd() {
	combined(collectives.LAnd, 1, 2, 0)
	// Output: land 0 <nil>
}

func ExampleLOr() {
	combined(collectives.LOr, 0, 2, 0)
	// Output: lor 1 <nil>
}

func ExampleLXor() {
	combined(collectives.LXor, 1, 2, 0)
	// Output: lxor 0 <nil>
}

// located prints the reduction of one number of each rank with its rank.
func located(op collectives.LocOp[int], values ...int) {
	ranks(len(values), func(ctx context.Context, w *comm.Comm) {
		v := []collectives.Loc[int]{{Value: values[w.Rank()], Index: w.Rank()}}
		err := collectives.AllreduceLoc(ctx, w, v, v, op)
		if w.Rank() == 0 {
			fmt.Println(v, err)
		}
	})
}

func ExampleMinLoc() {
	located(collectives.MinLoc, 5, 3, 3)
	// Output: [{3 1}] <nil>
}

func ExampleMaxLoc() {
	located(collectives.MaxLoc, 5, 3, 9)
	// Output: [{9 2}] <nil>
}
