// Package day repeats the 24 hours of section 4.3 of Herault et al., Practical Scalable Consensus
// (SC'15, ERA): agreements without a pause, while processes fail all the time. The paper counted
// 969,739 agreements and 146,213 failures on 128 processes. There and here a new process replaces
// each failed one, so the run has no end of its own. Command long runs the paper's numbers.
//
//	goulfm run -q -n 8 --spares 1 ./stress/endure day
//	goulfm run -q -n 8 --spares 1 ./stress/endure day -for 1h -every 1m
//	goulfm run -q -n 8 --spares 1 ./stress/endure day -json
//
// Each member checks each agreed flag: the flag is the contribution of all members, or of all but
// the dead. The members of each new communicator are checked as well. Memory and descriptors of the
// launcher may not grow after the first tenth of the time.
package day

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	lasts, every time.Duration
	apart        int
	seed         uint64
	json         bool
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args, os.Stderr)
	cli.Check("day", err)
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error { return newWorker(w, o, os.Stdout).run(ctx) }))
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("day", "usage: goulfm run -q -n RANKS --spares 1 ./stress/endure day [flags]\n"+
		"Agreements without a pause, while processes die and are replaced. Every rank checks every result. The memory of the\n"+
		"launcher may not grow. Rank 0 prints the counts, and beside them the rates of the paper's 24 hours.", out)
	fs.DurationVar(&o.lasts, "for", time.Minute, "how long")
	fs.DurationVar(&o.every, "every", 10*time.Second, "time between two lines")
	fs.IntVar(&o.apart, "apart", 20, "agreements between two deaths, in the mean")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the flags and victims; the moment of a death is chance")
	fs.BoolVar(&o.json, "json", false, "print each line as JSON; the last one has \"done\": true")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.lasts <= 0 || o.every <= 0 || o.apart < 1 || fs.NArg() > 0 {
		return o, errors.New("want -for and -every above 0, -apart from 1 up, no other argument (-h for help)")
	}
	return o, nil
}
