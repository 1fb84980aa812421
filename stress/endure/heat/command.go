// Package heat repeats the heat example, kills ranks, and compares the results.
//
//	go run ./stress/endure heat
//	go run ./stress/endure heat -runs 1000 -seed 7 -n 16 -- -nx 512 -ny 512
//
// Each run loses one to four ranks: one, two at once, one during the repair after another, a block
// together with its copy, three, four. A run is right if it ends in time, with exit code 0 and the
// exact result line of a run without deaths, loses ranks only by SIGKILL, and leaves no process and
// no file behind. The command prints the tally of the kinds, and the command line of each wrong
// run, so that the run can be repeated.
package heat

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	runs    int
	n       int
	seed    uint64
	timeout time.Duration
	goulfm  string
	heat    string
	args    []string // for heat
}

// Main is the command with these arguments.
func Main(args []string) {
	trial.Program[options]{Name: "heat", Parse: parse, Drive: drive}.Main(args)
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("heat", "usage: endure heat [flags] [-- flags of heat (default -tol 1e-3)]\n"+
		"The heat example loses one to four ranks in each run: one, two at once, one in the repair after\n"+
		"another, a block with its copy. Each run has to end with the result line of a run without deaths,\n"+
		"and to leave nothing. One that was wrong is printed with its command.", out)
	fs.IntVar(&o.runs, "runs", 200, "number of runs")
	fs.IntVar(&o.n, "n", 8, "ranks of each; at least 6")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of victims and moments; 0: take one, it is printed")
	fs.DurationVar(&o.timeout, "timeout", time.Minute, "a run that takes longer hangs")
	fs.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build ./cmd/goulfm)")
	fs.StringVar(&o.heat, "heat", "", "the program (default: build ./examples/byhand/heat)")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.args = fs.Args(); len(o.args) == 0 {
		o.args = []string{"-tol", "1e-3"} // a short run: a death then more often hits something other than a step
	}
	if o.runs < 1 || o.n < 6 || o.timeout <= 0 {
		return o, errors.New("want -runs of at least 1, -n of at least 6, -timeout above 0 (-h for help)")
	}
	o.seed = trial.Seed(o.seed)
	return o, nil
}

// drive runs all cases and returns the exit code.
func drive(o options, out io.Writer) (int, error) {
	p, err := open(o)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	calm := p.Run(o.n, nil, o.args)
	want, bad := resultOf(&calm)
	if bad != "" {
		return 0, fmt.Errorf("the run without deaths: %s\n%s", bad, calm.Transcript())
	}
	fmt.Fprintf(out, "heat: %d runs on %d ranks, seed %d\nwithout deaths, %v: %s\n",
		o.runs, o.n, o.seed, calm.Took.Round(time.Millisecond), want.line)

	all := newTally()
	rng := rand.New(rand.NewPCG(o.seed, 0))
	for i := range o.runs {
		c := draw(rng, kinds[i%len(kinds)], o.n, want.steps, calm.Took)
		r := p.Run(o.n, c.kills, o.args)
		bad := judge(&r, want.line)
		all.add(c.kind, &r, bad)
		if bad != "" {
			fmt.Fprintf(out, "\nrun %d (%s) is wrong: %s\n%s\n", i, c.kind, bad, r.Transcript())
		}
	}
	all.print(out)
	if all.wrong > 0 {
		return 1, nil
	}
	return 0, nil
}

// open makes a place whose ranks run heat.
func open(o options) (*trial.Place, error) {
	p, err := trial.Open("endure", o.goulfm, o.timeout)
	if err != nil {
		return nil, err
	}
	if p.Self = o.heat; p.Self == "" {
		if p.Self, err = p.Build("examples/byhand/heat"); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}
