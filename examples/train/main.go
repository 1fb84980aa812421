// Train fits a small neural network to points of two moons, and continues with fewer ranks when
// some die.
//
// The points are divided among the ranks. Each rank sums the gradient over its own points, an
// Allreduce makes the sum over all, and every rank takes the same step downhill. So all ranks have
// the same weights, and a death changes only the division of the points. If the dead cannot be
// replaced (--universe), the points are divided again among the remaining ranks.
//
//	goulfm run -n 4 ./examples/train -print 100
//	goulfm run -n 4 --universe 4 --kill 1@step=50 --kill 3@step=200 ./examples/train   # two ranks are left
//	goulfm run -n 4 --kill 2@300ms ./examples/train                # a new rank, where there is room
//
// The result is the same bit for bit on any ranks: each point's gradient is rounded to a multiple
// of a tiny unit, and sums of integers are the same in any order. With floating-point sums, the
// last bits would depend on the number of ranks in each step.
//
// Read network.go for the network and train.go for the parallel program. Points for fault plans:
// step=K, report=1, and those of package recovery.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/recovery"
)

func main() {
	p := &process{out: os.Stdout}
	flag.IntVar(&p.points, "points", 2000, "points to learn from")
	flag.IntVar(&p.hidden, "hidden", 12, "hidden units")
	flag.IntVar(&p.steps, "steps", 1000, "steps downhill")
	flag.Float64Var(&p.rate, "rate", 1, "length of a step, in gradients")
	flag.IntVar(&p.print, "print", 0, "steps between two lines about the loss so far; 0 for none")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS train [flags]\n"+
			"Trains a small network; continues with fewer ranks when some die.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if min(p.points, p.hidden, p.steps) < 1 || p.print < 0 || !(p.rate > 0) || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "train: -points, -hidden, -steps and -rate must be above 0, -print at least 0, no other argument (-h for help)")
		os.Exit(2)
	}
	recovery.Main(recovery.Config{Every: 10, Shortage: recovery.ShortageShrink}, p.run)
}
