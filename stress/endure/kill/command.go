// Package kill runs jobs that use all operations at random, kills ranks of them at random instants,
// and checks every result.
//
//	go run ./stress/endure kill
//	go run ./stress/endure kill -kills 100 -seed 7
//	go run ./stress/endure kill -seed 7 -first 31 -jobs 1     # that job again
//
// The ranks of a job agree, send messages of all sizes, name the sender in every way, and take part
// in collectives and in the making of communicators, in an order drawn from the seed. Meanwhile one
// to all but one of them get SIGKILL from outside. The survivors check the received data, check
// that all of them have had the same agreements, and repair. A job is right if it ends in time with
// exit code 0, loses only planned victims, and leaves no process and no file behind.
package kill

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// ranksMax is the number of ranks with a bit in the flag of an agreement.
const ranksMax = 30

type options struct {
	kills   int
	jobs    int // 0: as many as the kills take
	first   int
	n       int
	seed    uint64
	span    time.Duration
	timeout time.Duration
	goulfm  string
	launch  string
	verbose bool

	rank bool // this is a rank of a job
	calm bool // no rank is killed
}

// Main is the command with these arguments.
func Main(args []string) {
	trial.Program[options]{Name: "kill", Parse: parse, Rank: beRank, Drive: drive}.Main(args)
}

// beRank does the whole work of a rank.
func beRank(o options) bool {
	if !o.rank {
		return false
	}
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error {
		return newWorker(w, o.seed, o.span).run(ctx)
	}))
	return true
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("kill", "usage: endure kill [flags]\n"+
		"Jobs whose ranks send messages, agree, and make collectives and communicators in a random order,\n"+
		"while one to all but one of them are killed from outside. Survivors check all that they get, repair\n"+
		"and continue. A job must end in time with exit code 0 and leave nothing. A wrong job is\n"+
		"printed, with the flags that run it again: -seed 7 -first 31 -jobs 1.", out)
	fs.IntVar(&o.kills, "kills", 1000, "jobs run until this number of ranks was killed")
	fs.IntVar(&o.jobs, "jobs", 0, "if not 0: the number of jobs, in place of -kills")
	fs.IntVar(&o.first, "first", 0, "number of the first job")
	fs.IntVar(&o.n, "n", 8, "ranks of each job")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of operations, victims and moments; 0: a random seed, which is printed")
	fs.DurationVar(&o.span, "span", 150*time.Millisecond, "how long a job works; its victims die in this time")
	fs.DurationVar(&o.timeout, "timeout", 30*time.Second, "a job that takes longer hangs")
	fs.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build ./cmd/goulfm)")
	fs.StringVar(&o.launch, "launch", "", "more flags of goulfm run, as \"--agree era\"")
	fs.BoolVar(&o.verbose, "v", false, "a line for every job")
	fs.BoolVar(&o.rank, "rank", false, "be a rank of a job: goulfm run -n 8 ./stress/endure kill -rank -seed 1")
	fs.BoolVar(&o.calm, "calm", false, "kill no rank")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.n < 2 || o.n > ranksMax || o.kills < 1 || o.jobs < 0 || o.first < 0 || o.span <= 0 || o.timeout <= o.span || fs.NArg() > 0 || o.calm && o.jobs == 0 && !o.rank {
		return o, fmt.Errorf("want -n from 2 to %d, -kills of at least 1, -timeout above -span above 0, -jobs with -calm, no other argument (-h for help)", ranksMax)
	}
	o.seed = trial.Seed(o.seed)
	return o, nil
}
