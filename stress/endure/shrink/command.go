// Package shrink repeats the way from N processes down to one. In each turn the members make
// barriers, some of them kill themselves, the others revoke and shrink, and continue.
//
//	go run ./stress/endure shrink
//	go run ./stress/endure shrink -rounds 100 -n 8 -seed 7
//	go run ./stress/endure shrink -seed 7 -first 31 -rounds 1     # that round again
//
// A round is a job. The victims of a turn and the points of their deaths are drawn from the seed:
// before a barrier, in one, before the revocation, after it, in the shrink. Every rank knows the
// draw, so every result is known: the members that the shrunk communicator must have and those that
// it must not have, their order, the agreed list of the dead, and the result of a reduction there.
// A round is right if one rank is left in the end, the one that the draw has left, and the job ends
// in time with exit code 0 and leaves nothing.
package shrink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	trial.Flags
	n    int
	rank bool // this is a rank of a job
}

// Main is the command with these arguments.
func Main(args []string) {
	trial.Program[options]{Name: "shrink", Parse: parse, Rank: beRank, Drive: drive}.Main(args)
}

// beRank does the whole work of a rank.
func beRank(o options) bool {
	if !o.rank {
		return false
	}
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error {
		return newWorker(w, o.Seed, os.Stdout, trial.Die).run(ctx)
	}))
	return true
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("shrink", "usage: endure shrink [flags]\n"+
		"A round shrinks from N processes to one: barriers, some kill themselves, the others revoke and shrink.\n"+
		"The seed determines all deaths, so every result is known and checked. A round that was wrong\n"+
		"is printed, with the flags that run it again: -seed 7 -first 31 -rounds 1.", out)
	o.Register(fs, "rounds", 1000)
	fs.IntVar(&o.n, "n", 4, "ranks at the start of each round")
	fs.BoolVar(&o.rank, "rank", false, "be a rank of a job: goulfm run -n 4 ./stress/endure shrink -rank -seed 1")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.n < 1 || fs.NArg() > 0 {
		return o, errors.New("want -n from 1 up, no other argument (-h for help)")
	}
	return o, o.Check()
}

// drive runs the rounds and returns the exit code.
func drive(o options, out io.Writer) (int, error) {
	p, err := trial.Open("endure", o.Goulfm, o.Timeout)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	fmt.Fprintf(out, "shrink: %d rounds from %d ranks to 1, seed %d\n", o.Jobs, o.n, o.Seed)
	var turns counts
	t := o.Loop(p, out, func(number int) trial.Job {
		seed := o.SeedOf(number)
		return trial.Job{
			N: o.n, Args: []string{"shrink", "-rank", "-seed", strconv.FormatUint(seed, 10)}, Again: "-rounds 1 -n " + strconv.Itoa(o.n),
			Check: func(r *trial.Result) string { return turns.add(r, seed, o.n) },
		}
	})
	t.Print(out)
	turns.print(out)
	return t.Code(), nil
}
