// Hello is the smallest program: every rank prints its number, and all ranks add up their numbers.
package main

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

func main() {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		sum := []int{w.Rank()}
		if err := collectives.Allreduce(ctx, w, sum, sum, collectives.Sum); err != nil {
			return err
		}
		fmt.Printf("hello from rank %d of %d, sum of ranks %d\n", w.Rank(), w.Size(), sum[0])
		return nil
	})
}
