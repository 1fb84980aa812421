// Heat computes the temperature of a plate and survives the death of ranks.
//
// The upper edge of the plate is hot, the others are cold; Jacobi's method finds the temperature in
// between. Each rank has a block of rows. When ranks die, others take their places, and all
// continue from the last step whose rows were committed. The result is the same, bit for bit, as
// without a death:
//
//	goulfm run -n 8 ./examples/heat
//	goulfm run -n 8 --kill 3@step=40 --kill 5@step=70 ./examples/heat
//	goulfm run -n 8 --universe 8 --kill 3@step=40 ./examples/heat -shrink
//	goulfm run -n 8 ./examples/heat -dir checkpoints     # stop it (Ctrl-C), and start it on 5
//	goulfm run -n 4 ./examples/heat -pids -nx 1000 -ny 1000 -steps 20000 -tol 0
//
// The last line runs long enough to kill ranks by hand, and prints the commands for that. Read
// examples/plate for the numerics and solve.go for the parallel program. Three of its lines are
// there for the deaths: Protect, Steps and Err of package recovery. examples/byhand/heat is the
// same program with the calls of ULFM that recovery makes for this one. Points for fault plans:
// step=K, gather=K, report=K, and those of package recovery.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/examples/plate"
	"github.com/goulfm/goulfm/recovery"
)

// Options describe the problem and its protection.
type options struct {
	plate.Options
	every    int           // steps between two commits; 0: derived from mtbf
	mtbf     time.Duration // mean time between failures, for every = 0
	dir      string        // of files that outlive the job; empty: none
	shortage recovery.Shortage
}

func main() {
	o := parse()
	recovery.Main(recovery.Config{Every: o.every, MTBF: o.mtbf, Shortage: o.shortage, Files: recovery.Files{Dir: o.dir, Arguments: o.problem()}}, func(ctx context.Context, w *recovery.World) error {
		if o.PIDs {
			fmt.Printf("rank %d: kill -9 %d\n", w.Rank(), os.Getpid())
		}
		if w.Size() > o.NY {
			return fmt.Errorf("heat: %d ranks need at least as many rows: give -ny %d or more", w.Size(), w.Size())
		}
		return (&solver{options: o, out: os.Stdout}).solve(ctx, w)
	})
}

// problem returns the options that a job has to share with the job whose files it continues from.
// The number of steps is not one of them.
func (o options) problem() []string { return []string{fmt.Sprint(o.NX), fmt.Sprint(o.NY)} }

func parse() options {
	var o options
	o.Register(flag.CommandLine)
	flag.IntVar(&o.every, "every", 10, "steps between two commits; 0: derived from -mtbf")
	flag.DurationVar(&o.mtbf, "mtbf", 0, "mean time between failures, from which -every 0 derives the interval; 0: one hour")
	flag.StringVar(&o.dir, "dir", "", "folder for checkpoints, from which another job continues, with any number of ranks")
	flag.BoolFunc("shrink", "continue with fewer ranks if no process is left to replace the dead", func(string) error {
		o.shortage = recovery.ShortageShrink
		return nil
	})
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
	if o.every < 0 || o.mtbf < 0 {
		return fmt.Sprintf("-every and -mtbf must not be negative, got %d and %v", o.every, o.mtbf)
	}
	return o.Wrong(rest)
}
