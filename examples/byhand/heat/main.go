// Heat computes the temperature of a plate and survives the death of ranks: the program of
// examples/heat with the work of package recovery written out, and with fewer ranks after each
// death.
//
// The upper edge of the plate is hot, the others are cold; Jacobi's method finds the temperature in
// between. Each rank has a block of rows. Every few steps it sends a copy of its block to its right
// neighbour. When ranks die, the others shrink the communicator, divide the rows of the last copy
// among themselves and continue. The result is the same, bit for bit, as without a death:
//
//	goulfm run -n 8 ./examples/byhand/heat
//	goulfm run -n 8 --kill 3@step=40 --kill 5@step=70 ./examples/byhand/heat
//	goulfm run -n 4 ./examples/byhand/heat -pids -nx 1000 -ny 1000 -steps 20000 -tol 0
//
// The last one runs long enough to kill ranks by hand, and prints the commands for that. Read
// examples/plate for the numerics, solve.go for the parallel program, recovery.go for the reaction
// to a death, copies.go for the copies. Points for fault plans: step=K, copy=K, repair=N, gather=K,
// report=K.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/comm"
)

func main() {
	o := parse()
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		if o.PIDs {
			fmt.Printf("rank %d: kill -9 %d\n", w.Rank(), os.Getpid())
		}
		if w.Size() > o.NY {
			return fmt.Errorf("heat: %d ranks need at least as many rows: give -ny %d or more", w.Size(), w.Size())
		}
		return newSolver(w, o, os.Stdout).solve(ctx)
	})
}

func parse() options {
	var o options
	o.Register(flag.CommandLine)
	flag.IntVar(&o.every, "every", 10, "steps between two copies")
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

// wrong describes the first wrong option; empty: none.
func (o options) wrong(rest []string) string {
	if o.every < 1 {
		return fmt.Sprintf("-every must be at least 1, got %d", o.every)
	}
	return o.Wrong(rest)
}
