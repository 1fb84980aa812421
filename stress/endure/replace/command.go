// Package replace repeats the loss and the replacement of a process. In each round the members make
// barriers, one member kills itself, the others revoke and shrink, Spawn starts another process,
// and Merge brings the communicator back to its size.
//
//	go run ./stress/endure replace
//	go run ./stress/endure replace -rounds 100 -n 8 -seed 7
//
// All rounds are in one job. The victim of a round and the barrier before or in which it dies are
// drawn from the seed; rank 0 dies as often as others. Each round checks the members of the shrunk
// communicator, the size of the new one, and the result of a reduction there.
package replace

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	trial.Flags
	n, rounds int
	rank      bool // this is a rank of a job
}

// Main is the command with these arguments.
func Main(args []string) {
	trial.Program[options]{Name: "replace", Parse: parse, Rank: beRank, Drive: drive}.Main(args)
}

// beRank does the whole work of a rank.
func beRank(o options) bool {
	if !o.rank {
		return false
	}
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error {
		return (&worker{w: w, n: o.n, rounds: o.rounds, seed: o.Seed, out: os.Stdout}).run(ctx)
	}))
	return true
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("replace", "usage: endure replace [flags]\n"+
		"In each round of a job one member kills itself, the others revoke and shrink, and Spawn and Merge\n"+
		"bring the communicator back to its size. Members, sizes and a reduction are checked every time.", out)
	o.Register(fs, "jobs", 1)
	fs.IntVar(&o.n, "n", 4, "ranks")
	fs.IntVar(&o.rounds, "rounds", 1000, "processes that are lost and replaced in each job")
	fs.BoolVar(&o.rank, "rank", false, "be a rank of a job: goulfm run -n 4 --universe 100 ./stress/endure replace -rank -seed 1 -rounds 10")
	_ = fs.Set("timeout", "10m")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.n < 2 || o.rounds < 1 || fs.NArg() > 0 {
		return o, fmt.Errorf("want -n from 2 up, -rounds from 1 up, no other argument (-h for help)")
	}
	return o, o.Check()
}

// spareSlots is the number of slots of a job beyond those of its first processes, whose
// communicator stays, and those of the live ones.
const spareSlots = 4

// drive runs the jobs and returns the exit code.
func drive(o options, out io.Writer) (int, error) {
	p, err := trial.Open("endure", o.Goulfm, o.Timeout)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	fmt.Fprintf(out, "replace: %d jobs of %d ranks, %d replaced in each, seed %d\n", o.Jobs, o.n, o.rounds, o.Seed)
	t := o.Loop(p, out, func(number int) trial.Job {
		seed := o.SeedOf(number)
		return trial.Job{
			N: o.n, Launch: []string{"--universe", strconv.Itoa(2*o.n + spareSlots)}, Again: fmt.Sprintf("-jobs 1 -n %d -rounds %d", o.n, o.rounds),
			Args:  []string{"replace", "-rank", "-n", strconv.Itoa(o.n), "-rounds", strconv.Itoa(o.rounds), "-seed", strconv.FormatUint(seed, 10)},
			Check: func(r *trial.Result) string { return check(r, o.rounds, out) },
		}
	})
	t.Print(out)
	return t.Code(), nil
}

// check returns the fault of a job that ended correctly, and prints its times.
func check(r *trial.Result, rounds int, out io.Writer) string {
	if deaths := len(r.Deaths()); deaths != rounds {
		return fmt.Sprintf("%d deaths in %d rounds", deaths, rounds)
	}
	line := strings.TrimSpace(r.Stdout)
	if !strings.HasPrefix(line, fmt.Sprintf("replace: %d rounds", rounds)) || strings.Contains(line, "\n") {
		return fmt.Sprintf("it printed %q", r.Stdout)
	}
	fmt.Fprintln(out, line)
	return ""
}
