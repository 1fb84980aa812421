// S3d is a small stand-in for the combustion code S3D: species in a box are carried by a wind,
// spread, and react one into the next, and the program survives the death of ranks.
//
// The numerics are those of S3D on a small scale: differences of eighth order, which reach four
// cells far, and a Runge-Kutta method of Carpenter and Kennedy of fourth order, in five stages. The
// box is periodic and cut in all three dimensions; each rank has a block of cells and exchanges six
// faces with its neighbours in each stage. The reaction is linear, so the solution is known and the
// error is printed, and checked. Gamell et al. (SC'14) made S3D survive deaths in this way: the
// fields are copied to the memory of another rank every -every steps. After a death a new process
// gets the dead rank's block, and all ranks return to that step and compute from there.
//
//	goulfm run -n 4 ./examples/s3d
//	goulfm run -n 4 --kill 1@step=17 ./examples/s3d
//	goulfm run -n 8 --kill 3@stage=60 --kill 5@step=31 ./examples/s3d -print 10
//	goulfm run -n 4 --kill 2@300ms ./examples/s3d -nx 32 -ny 32 -nz 32
//	goulfm run --host 4 --ppn 2 --kill node2@step=17 ./examples/s3d
//	goulfm run --host 4 --ppn 2 --kill node2@step=17 --kill node1@step=31 ./examples/s3d -data 3 -parity 1
//
// In the last two all ranks of a node are lost with their memory. Their fields are restored from
// copies on other nodes, or computed from parity there.
//
// The result is the same bit for bit, with and without deaths, and on any number of ranks. Read
// field.go for the numerics and solve.go for the parallel program. Points for fault plans: step=K,
// stage=K (five in each step), report=1, and those of package recovery.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/recovery"
)

// Options describe the problem and its protection.
type options struct {
	cells   [3]int // of the whole box, in x, y and z
	species int
	steps   int
	every   int           // steps between two commits; 0: derived from mtbf
	mtbf    time.Duration // mean time between failures, for every = 0
	copies  int           // of each rank's fields, on other nodes
	erasure recovery.Erasure
	print   int // steps between two lines; 0: none
}

func main() {
	o := parse()
	recovery.Main(recovery.Config{Every: o.every, MTBF: o.mtbf, Copies: o.copies, Erasure: o.erasure}, func(ctx context.Context, w *recovery.World) error {
		return (&solver{o: o, out: os.Stdout}).solve(ctx, w)
	})
}

func parse() options {
	var o options
	for d, name := range []string{"nx", "ny", "nz"} {
		flag.IntVar(&o.cells[d], name, 24, "cells in "+name[1:]+"; at least 8, and 4 for each rank in that direction")
	}
	flag.IntVar(&o.species, "species", 3, "number of species")
	flag.IntVar(&o.steps, "steps", 40, "time steps")
	flag.IntVar(&o.every, "every", 5, "steps between two commits; 0 for as often as it pays")
	flag.DurationVar(&o.mtbf, "mtbf", 0, "mean time between failures for which -every 0 finds how often it pays; 0: one hour")
	flag.IntVar(&o.copies, "copies", 1, "how many ranks, on other nodes where there are some, keep a copy of each one's fields")
	flag.IntVar(&o.erasure.Data, "data", 0, "instead of copies: groups of so many ranks and -parity more, on different nodes")
	flag.IntVar(&o.erasure.Parity, "parity", 0, "how many ranks of such a group may be lost at once")
	flag.IntVar(&o.print, "print", 0, "steps between two lines about the error so far; 0 for none")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS s3d [flags]\n"+
			"Species that move, spread and react in a box; survives the loss of ranks.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if msg := o.wrong(flag.Args()); msg != "" {
		fmt.Fprintln(os.Stderr, "s3d: "+msg+" (-h for help)")
		os.Exit(2)
	}
	return o
}

// wrong describes the first wrong option; empty: none. A wave of fewer than eight cells is not
// resolved, and the error would mean nothing.
func (o options) wrong(rest []string) string {
	switch {
	case len(rest) > 0:
		return fmt.Sprintf("unexpected argument %q", rest[0])
	case min(o.cells[0], o.cells[1], o.cells[2]) < 8:
		return "-nx, -ny and -nz must be at least 8"
	case o.species < 1 || o.steps < 1:
		return "-species and -steps must be at least 1"
	case o.every < 0 || o.mtbf < 0 || o.print < 0:
		return "-every, -mtbf and -print must not be negative"
	case o.copies < 1:
		return "-copies must be at least 1"
	case min(o.erasure.Data, o.erasure.Parity) < 0 || (o.erasure.Data == 0) != (o.erasure.Parity == 0):
		return "-data and -parity must both be at least 1, or both be left out"
	}
	return ""
}
