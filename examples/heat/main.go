// Heat computes the temperature of a plate and does not mind if ranks die.
//
// The upper edge of the plate is hot, the others are cold; Jacobi's method finds
// the temperature in between. Each rank has a block of rows. When ranks die, others
// take their places, and all go on from the last step whose rows were committed. The
// result is the same, bit for bit, as without a death:
//
//	goulfm run -n 8 ./examples/heat
//	goulfm run -n 8 --kill 3@step=40 --kill 5@step=70 ./examples/heat
//	goulfm run -n 4 ./examples/heat -pids -nx 1000 -ny 1000 -steps 20000 -tol 0
//
// The last one runs long enough to kill ranks by hand, and says how.
// Read grid.go for the numerics and solve.go for the parallel program, in which three lines
// are there for the deaths: Protect, Steps and Err of package recovery. examples/byhand/heat is
// the same program with the calls of ULFM that recovery makes for it. Points for fault plans:
// step=K, gather=K, report=K, and those of package recovery.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/recovery"
)

// Options say what to compute.
type options struct {
	nx, ny int     // cells across, rows
	steps  int     // stop after so many steps,
	tol    float64 // or when no cell changes by this much
	every  int     // steps between two commits; 0: as it pays
	print  int     // steps between two lines of output; 0: none
	pids   bool    // whether each rank says how to kill it
}

func main() {
	o := parse()
	recovery.Main(recovery.Config{Every: o.every}, func(ctx context.Context, w *recovery.World) error {
		if o.pids {
			fmt.Printf("rank %d: kill -9 %d\n", w.Rank(), os.Getpid())
		}
		if w.Size() > o.ny {
			return fmt.Errorf("heat: %d ranks need at least as many rows: give -ny %d or more", w.Size(), w.Size())
		}
		return (&solver{options: o, out: os.Stdout}).solve(ctx, w)
	})
}

func parse() options {
	var o options
	flag.IntVar(&o.nx, "nx", 256, "cells across the plate")
	flag.IntVar(&o.ny, "ny", 256, "rows of the plate; at least the number of ranks")
	flag.IntVar(&o.steps, "steps", 1000, "stop after this many steps")
	flag.Float64Var(&o.tol, "tol", 2.5e-4, "stop when no cell changes by this much in a step")
	flag.IntVar(&o.every, "every", 10, "steps between two commits; 0 for as often as it pays")
	flag.IntVar(&o.print, "print", 100, "steps between two lines of output; 0 for none")
	flag.BoolVar(&o.pids, "pids", false, "print how to kill each rank")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS heat [flags]\n"+
			"Temperature of a plate with one hot edge; survives the loss of ranks.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if msg := o.wrong(flag.Args()); msg != "" {
		fmt.Fprintln(os.Stderr, "heat: "+msg+" (-h for help)")
		os.Exit(2)
	}
	return o
}

// wrong says what is wrong with the options, if anything.
func (o options) wrong(rest []string) string {
	switch {
	case len(rest) > 0:
		return fmt.Sprintf("unexpected argument %q", rest[0])
	case o.nx < 1 || o.ny < 1:
		return fmt.Sprintf("the plate needs at least one cell, not %d x %d", o.nx, o.ny)
	case o.steps < 0:
		return fmt.Sprintf("-steps must not be negative, got %d", o.steps)
	case !(o.tol >= 0):
		return fmt.Sprintf("-tol must be a number from 0 up, got %v", o.tol)
	case o.every < 0:
		return fmt.Sprintf("-every must not be negative, got %d", o.every)
	case o.print < 0:
		return fmt.Sprintf("-print must not be negative, got %d", o.print)
	}
	return ""
}
