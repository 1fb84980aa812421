// Bagoftasks computes pi: a master hands out slices of an integral to workers.
//
// The integral of 4/(1+x²) from 0 to 1 is cut into tasks. Rank 0 is the master, and the other ranks
// request tasks. A task whose worker dies is given to another worker; the result is the same, bit
// for bit. The master does not even need a new communicator: it acknowledges the death and
// continues to receive.
//
//	goulfm run -n 4 ./examples/bagoftasks
//	goulfm run -n 4 --kill 2@task=5 --kill 3@task=9 ./examples/bagoftasks
//
// If the master itself dies, the job ends with an error at every worker. Point for fault plans:
// task=K at a worker that takes its K-th task.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/goulfm/goulfm/comm"
)

func main() {
	tasks := flag.Int("tasks", 200, "number of tasks")
	points := flag.Int("points", 1_000_000, "points per task: more is longer and more exact")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS bagoftasks [flags]\n"+
			"Pi by numerical integration; tasks of dead workers are done again.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *tasks < 1 || *points < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bagoftasks: want -tasks and -points of at least 1 and no other argument (-h for help)")
		os.Exit(2)
	}
	in := integral{*tasks, *points}
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		if w.Rank() > 0 {
			return work(ctx, w, in, func(n int) { w.Mark("task", n) })
		}
		start := time.Now()
		var m *master
		var pi float64
		m = newMaster(w, in, func() {
			pi = m.sum()
			w.Mark("report", 1)
			fmt.Printf("result: pi=%.15f error=%.1e again=%d dead=%d time=%v\n",
				pi, math.Abs(pi-math.Pi), m.again, m.lost(), time.Since(start).Round(time.Millisecond))
		})
		if err := m.serve(ctx); err != nil {
			return err
		}
		if math.Abs(pi-math.Pi) > in.bound() {
			return fmt.Errorf("bagoftasks: pi is wrong by more than %.1e", in.bound())
		}
		return nil
	})
}

// An integral is 4/(1+x²) from 0 to 1 by the midpoint rule, cut into tasks.
type integral struct{ tasks, points int }

// slice is the share of one task.
func (in integral) slice(task int) float64 {
	n := float64(in.tasks) * float64(in.points)
	sum := 0.0
	for i := range in.points {
		x := (float64(task)*float64(in.points) + float64(i) + 0.5) / n
		sum += 4 / (1 + x*x)
	}
	return sum / n
}

// bound is the largest difference of the sum of all slices from pi: h²/24 times the greatest second
// derivative (8), and the rounding of the sums.
func (in integral) bound() float64 {
	n := float64(in.tasks) * float64(in.points)
	return 8/(24*n*n) + 4*float64(in.points+in.tasks)*0x1p-53
}
