// Circle estimates pi and survives the death of ranks. It counts the points with integer
// coordinates inside a circle, some rows at a time, and divides by the square of the radius.
//
//	goulfm run -n 4 ./examples/circle
//	goulfm run -n 4 --kill 2@step=5 --kill 1@step=20 ./examples/circle
//
// Iterate, agree, shrink: there is no data to restore, because every rank has the sum and the rows
// of a step can be divided again. examples/byhand/heat has data to restore.
package main

import (
	"context"
	"fmt"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

const (
	radius = 20_000
	steps  = 50
)

func main() {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		c, points, err := iterate(ctx, w)
		if err != nil {
			return err
		}
		return report(ctx, c, func(ranks int) {
			fmt.Printf("%d ranks: %d points, pi is about %.6f\n", ranks, points, float64(points)/radius/radius)
		})
	})
}

// iterate returns the number of points in the circle, and the communicator of the
// ranks that are left.
func iterate(ctx context.Context, c *comm.Comm) (*comm.Comm, int, error) {
	total := 0
	for step := 0; step < steps; {
		c.Mark("step", step)
		sum := []int{count(step, c.Rank(), c.Size())}
		err := collectives.Allreduce(ctx, c, sum, sum, collectives.Sum)

		// The sum may have arrived here and failed elsewhere. AllOK gives all living ranks the same
		// result, so all do the same from here on.
		ok, lost := c.AllOK(ctx, err)
		if ok {
			total += sum[0]
			step++
		}
		switch {
		case err != nil && !comm.Recoverable(err):
			return c, 0, err // a mistake of this program, or an interrupt
		case lost != nil && !comm.Recoverable(lost):
			return c, 0, lost
		case ok && lost == nil:
			continue
		}
		if c, err = c.Shrink(ctx); err != nil {
			return nil, 0, err
		}
	}
	return c, total, nil
}

// report prints the result at rank 0 and ends in an agreement, as each step does: if
// rank 0 dies before it has printed, the next rank 0 prints. A line twice is better
// than none.
func report(ctx context.Context, c *comm.Comm, print func(ranks int)) error {
	for printed := false; ; {
		if c.Rank() == 0 && !printed {
			c.Mark("report", 1)
			print(c.Size())
			printed = true
		}
		_, err := c.AllOK(ctx, nil)
		if err == nil || !comm.Recoverable(err) {
			return err
		}
		if c, err = c.Shrink(ctx); err != nil {
			return err
		}
	}
}

// count counts the points in the rows of a step that are rank's when size ranks
// share them: every size-th row.
func count(step, rank, size int) int {
	const rows = 2*radius + 1
	points := 0
	for row := step*rows/steps + rank; row < (step+1)*rows/steps; row += size {
		y := float64(row - radius)
		points += 1 + 2*int(math.Sqrt(radius*radius-y*y))
	}
	return points
}
