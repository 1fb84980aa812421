// Killstress runs jobs that use everything at random, kills ranks of them at random
// instants, and checks every result.
//
//	go run ./bench/killstress
//	go run ./bench/killstress -kills 100 -seed 7
//	go run ./bench/killstress -seed 7 -first 31 -jobs 1     # that job again
//
// The ranks of a job agree, send messages of all sizes, in every way of naming the
// sender, and take part in collectives and in the making of communicators, in an order
// drawn from the seed; meanwhile one to all but one of them get SIGKILL from outside.
// Who survives checks what it has received, that all survivors have the same
// agreements behind them, and repairs. A job is right if it ends in time with exit code
// 0, and leaves no process and no file behind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/goulfm/goulfm/comm"
)

// ranksMax is how many have a bit in the flag of an agreement.
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
	calm bool // nobody is killed
}

func main() {
	o := parse()
	if o.rank {
		work(o)
		return
	}
	code, err := stress(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "killstress:", err)
		code = 3
	}
	os.Exit(code)
}

func parse() options {
	var o options
	flag.IntVar(&o.kills, "kills", 1000, "jobs are run until so many ranks were killed")
	flag.IntVar(&o.jobs, "jobs", 0, "or so many jobs, if not 0")
	flag.IntVar(&o.first, "first", 0, "number of the first job")
	flag.IntVar(&o.n, "n", 8, "ranks of each job")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of operations, victims and moments; 0: take one, it is printed")
	flag.DurationVar(&o.span, "span", 150*time.Millisecond, "how long a job works; its victims die in this time")
	flag.DurationVar(&o.timeout, "timeout", 30*time.Second, "a job that takes longer hangs")
	flag.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build ./cmd/goulfm)")
	flag.StringVar(&o.launch, "launch", "", "more flags of goulfm run, as \"--agree era\"")
	flag.BoolVar(&o.verbose, "v", false, "a line for every job")
	flag.BoolVar(&o.rank, "rank", false, "be a rank of a job: goulfm run -n 8 killstress -rank -seed 1")
	flag.BoolVar(&o.calm, "calm", false, "kill nobody")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: killstress [flags]\n"+
			"Jobs that use everything, under kills, every result checked.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if o.n < 2 || o.n > ranksMax || o.kills < 1 || o.jobs < 0 || o.first < 0 || o.span <= 0 || o.timeout <= o.span || flag.NArg() > 0 || o.calm && o.jobs == 0 && !o.rank {
		fmt.Fprintf(os.Stderr, "killstress: want -n from 2 to %d, -kills of at least 1, -timeout above -span above 0, -jobs with -calm, no other argument (-h for help)\n", ranksMax)
		os.Exit(2)
	}
	for o.seed == 0 {
		o.seed = rand.Uint64N(1 << 32)
	}
	return o
}

// work is what a rank of a job does.
func work(o options) {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		err := newWorker(w, o.seed, o.span).run(ctx)
		if v := new(violation); errors.As(err, &v) {
			// Whoever finds one ends the job: the others' going on would make it look
			// like one more death.
			fmt.Println(err)
			w.Abort(codeWrong)
		}
		return err
	})
}
