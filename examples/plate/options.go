package plate

import (
	"flag"
	"fmt"
)

// Options describe the problem.
type Options struct {
	NX, NY int     // cells across, rows
	Steps  int     // stop after this many steps,
	Tol    float64 // or when no cell changes by this much
	Print  int     // steps between two lines of output; 0: none
	PIDs   bool    // whether each rank prints the command that kills it
}

// Register declares the options as flags.
func (o *Options) Register(f *flag.FlagSet) {
	f.IntVar(&o.NX, "nx", 256, "cells across the plate")
	f.IntVar(&o.NY, "ny", 256, "rows of the plate; at least the number of ranks")
	f.IntVar(&o.Steps, "steps", 1000, "stop after this many steps")
	f.Float64Var(&o.Tol, "tol", 2.5e-4, "stop when no cell changes by this much in a step")
	f.IntVar(&o.Print, "print", 100, "steps between two lines of output; 0 for none")
	f.BoolVar(&o.PIDs, "pids", false, "print how to kill each rank")
}

// Wrong describes the first wrong option, or the first argument after the flags; empty: none.
func (o Options) Wrong(rest []string) string {
	switch {
	case len(rest) > 0:
		return fmt.Sprintf("unexpected argument %q", rest[0])
	case o.NX < 1 || o.NY < 1:
		return fmt.Sprintf("the plate needs at least one cell, not %d x %d", o.NX, o.NY)
	case o.Steps < 0:
		return fmt.Sprintf("-steps must not be negative, got %d", o.Steps)
	case !(o.Tol >= 0):
		return fmt.Sprintf("-tol must be a number from 0 up, got %v", o.Tol)
	case o.Print < 0:
		return fmt.Sprintf("-print must not be negative, got %d", o.Print)
	}
	return ""
}
