// S3d is a small stand-in for the combustion code S3D: species in a box are carried by a wind,
// spread, and react one into the next, and nobody minds if ranks die.
//
// The numerics are those of S3D in the small: differences of eighth order, which look four cells
// far, and a Runge-Kutta method of Carpenter and Kennedy of fourth order, in five stages. The box
// is periodic and cut in all three dimensions; each rank has a block of cells and exchanges six
// faces with its neighbours in each stage. The reaction is linear, so the solution is known and
// the error is printed, and checked. Gamell et al. (SC'14) made S3D survive deaths in this way:
// the fields are copied to the memory of another rank every -every steps; after a death a new
// process gets the dead rank's block, all go back to that step and compute from there.
//
//	goulfm run -n 4 ./examples/s3d
//	goulfm run -n 4 --kill 1@step=17 ./examples/s3d
//	goulfm run -n 8 --kill 3@stage=60 --kill 5@step=31 ./examples/s3d -print 10
//	goulfm run -n 4 --kill 2@300ms ./examples/s3d -nx 32 -ny 32 -nz 32
//
// The result is the same bit for bit, with and without deaths, and on any number of ranks.
// Read field.go for the numerics and solve.go for the parallel program. Points for fault plans:
// step=K, stage=K (five in each step), report=1, and those of package recovery.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/recovery"
)

// Options say what to compute.
type options struct {
	cells   [3]int // of the whole box, in x, y and z
	species int
	steps   int
	every   int           // steps between two commits; 0: as it pays
	mtbf    time.Duration // for that
	print   int           // steps between two lines; 0: none
}

func main() {
	o := parse()
	recovery.Main(recovery.Config{Every: o.every, MTBF: o.mtbf}, func(ctx context.Context, w *recovery.World) error {
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

// wrong says what is wrong with the options, if anything. A wave of fewer than eight cells is not
// resolved, and the error would say nothing.
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
	}
	return ""
}
