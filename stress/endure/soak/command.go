// Package soak makes a long run of agreements and of communicators, each freed when the next one
// exists. It checks that nothing grows: memory, goroutines, descriptors, mapped segments.
//
//	goulfm run -q -n 4 ./stress/endure soak
//	goulfm run -q -n 4 ./stress/endure soak -rounds 1000 -samples 5
//
// A round is ten agreements, a shrink without deaths that makes an equal communicator, and every
// few rounds a Dup and a Split; every result is checked. A table shows the largest figures over the
// ranks. The first row that counts is the one after the warm-up. The last row must equal that row
// within the limits at the end of the table (see growth for their meaning), at every rank, or the
// exit code is not 0.
package soak

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	rounds  int
	samples int
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args, os.Stderr)
	cli.Check("soak", err)
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error {
		return newSoak(w, o, os.Stdout, measure).run(ctx)
	}))
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("soak", "usage: goulfm run -q -n RANKS ./stress/endure soak [flags]\n"+
		"Agreements and communicators in numbers, without deaths. Memory, goroutines, descriptors and mapped\n"+
		"segments of each rank may not grow after the warm-up.", out)
	fs.IntVar(&o.rounds, "rounds", 10_000, "rounds of ten agreements and a shrink")
	fs.IntVar(&o.samples, "samples", 10, "rows of the table after the warm-up, which is as long as what is between two rows")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.samples < 1 || o.rounds < o.samples || fs.NArg() > 0 {
		return o, errors.New("want -samples from 1 up, -rounds of at least as many, no other argument (-h for help)")
	}
	return o, nil
}
