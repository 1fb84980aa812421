// Train fits a small neural network to points of two moons, and goes on with fewer ranks when some
// die.
//
// The points are dealt out to the ranks; each sums the gradient over its own, an Allreduce makes
// the sum over all, and every rank takes the same step downhill. So all have the same weights, and
// what a death takes away is only who reads which points. Where the dead cannot be replaced
// (--universe), the points are dealt out anew to those who are left.
//
//	goulfm run -n 4 ./examples/train -print 100
//	goulfm run -n 4 --universe 4 --kill 1@step=50 --kill 3@step=200 ./examples/train   # ends with two ranks
//	goulfm run -n 4 --kill 2@300ms ./examples/train                                    # a new one, where there is room
//
// The result is the same bit for bit, on whatever ranks: each point's gradient is rounded to a
// whole number of tiny units, and sums of whole numbers are the same in any order. With
// floating-point sums, the last bits would depend on how many ranks there were when.
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
			"Trains a small network; goes on with fewer ranks when some die.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if min(p.points, p.hidden, p.steps) < 1 || p.print < 0 || !(p.rate > 0) || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "train: want positive numbers and no other argument (-h for help)")
		os.Exit(2)
	}
	recovery.Main(recovery.Config{Every: 10, Shortage: recovery.ShortageShrink}, p.run)
}
