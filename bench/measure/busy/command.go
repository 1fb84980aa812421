// Package busy lets one rank compute for long, on all its threads and with the garbage collector
// forced all the time, while the others wait for it. The rank makes no call and sends no message,
// but it is alive: no other rank may suspect it.
//
//	go run ./bench/measure busy                # each way of finding deaths, 3 s each
//	go run ./bench/measure busy -for 60s -n 8
//
// The ways are the exact detector, alone and with the shortest --suspect-after, and the ring; each
// with as many threads as the launcher gives a rank, and with one. Reserve the machine's cores for
// this command: a rank that gets no time from other programs shows no sign of life meanwhile, and
// is killed for that if --suspect-after is set.
package busy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	n      int
	long   time.Duration
	goulfm string
	rank   bool // this is a rank of a job
}

// Main is the command with these arguments.
func Main(args []string) {
	trial.Program[options]{Name: "busy", Parse: parse, Rank: beRank, Drive: func(o options, out io.Writer) (int, error) { return drive(o, ways, out) }}.Main(args)
}

// beRank does the whole work of a rank.
func beRank(o options) bool {
	if !o.rank {
		return false
	}
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error { return take(ctx, w, o.long) }))
	return true
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("busy", "usage: measure busy [flags]\nA rank computes for long and makes no call; nobody may suspect it.", out)
	fs.IntVar(&o.n, "n", 4, "ranks of each job; the last one computes")
	fs.DurationVar(&o.long, "for", 3*time.Second, "how long it does")
	fs.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build cmd/goulfm)")
	fs.BoolVar(&o.rank, "rank", false, "be a rank of a job: goulfm run -n 4 ./bench/measure busy -rank -for 3s")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.n < 2 || o.long <= 0 || fs.NArg() > 0 {
		return o, errors.New("want -n from 2 up, -for above 0, no other argument (-h for help)")
	}
	return o, nil
}

// ways are flags of the launcher.
var ways = [][]string{
	{"--detector", "exact"},
	{"--detector", "exact", "-x", "GOMAXPROCS=1"},
	{"--suspect-after", "200ms"},
	{"--suspect-after", "200ms", "-x", "GOMAXPROCS=1"},
	{"--detector", "ring"},
	{"--detector", "ring", "-x", "GOMAXPROCS=1"},
}

// graceMax is the time that a job may take besides the computing.
const graceMax = 30 * time.Second

// drive runs a job for each way, and returns the exit code.
func drive(o options, ways [][]string, out io.Writer) (int, error) {
	p, err := trial.Open("measure", o.goulfm, o.long+graceMax)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	fmt.Fprintf(out, "busy: rank %d of %d computes for %v\n", o.n-1, o.n, o.long)
	f := trial.Flags{Jobs: len(ways), Seed: 1}
	t := f.Loop(p, out, func(number int) trial.Job {
		return trial.Job{
			N: o.n, Launch: ways[number], Args: []string{"busy", "-rank", "-for", o.long.String()}, Again: "with a shorter list of ways",
			Check: func(r *trial.Result) string {
				bad := check(r, o.long)
				fmt.Fprintf(out, "%v: %s\n", ways[number], verdict(bad))
				return bad
			},
		}
	})
	t.Print(out)
	return t.Code(), nil
}

func verdict(bad string) string {
	if bad == "" {
		return "nobody is suspected"
	}
	return bad
}

// check returns the fault of a job: a suspicion, a death, or a rank that has not computed.
func check(r *trial.Result, long time.Duration) string {
	suspicions, deaths := r.Events("suspect"), r.Deaths()
	switch {
	case len(suspicions) > 0:
		return fmt.Sprintf("a suspicion: %v %s", suspicions[0].Ranks, suspicions[0].Text)
	case len(deaths) > 0:
		return fmt.Sprintf("rank %d is lost: %s", deaths[0].Rank, deaths[0].Cause)
	case r.Took < long:
		return fmt.Sprintf("it took only %v", r.Took)
	}
	return ""
}
