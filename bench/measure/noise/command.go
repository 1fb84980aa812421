// Package noise measures the cost of heartbeats for a program without failures. It compares
// latency, bandwidth and allreduce with and without them: heartbeats of the ring detector with
// several periods, and the counters that show that a rank is alive (--suspect-after, eight polls in
// its duration).
//
//	go run ./bench/measure noise
//	go run ./bench/measure noise -periods 1ms,10ms -suspect 200ms -n 8 -rounds 11
//
// In each round every setting runs once, and the time of a setting is divided by that without
// heartbeats of the same round; the median of the rounds counts. Each round runs twice without
// heartbeats: the difference of those two is noise, and an overhead inside of that band means
// nothing. The method is that of Zhong et al., PARCO 2019, section 5.3.
package noise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
)

type options struct {
	periods []time.Duration
	suspect []time.Duration
	n       int // ranks of allreduce
	rounds  int
	time    time.Duration // for each operation and size
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args)
	cli.Check("noise", err)
	cli.Run("noise", func(ctx context.Context) error { return drive(ctx, o) })
}

func parse(args []string) (options, error) {
	var o options
	fs := cli.Flags("noise", "usage: measure noise [flags]\nWhat heartbeats and signs of life cost a program that nothing happens to.", os.Stderr)
	periods := fs.String("periods", "1ms,10ms,100ms", "of the heartbeats of the ring detector, with commas")
	suspect := fs.String("suspect", "200ms,1s", "after how long ranks that do not count are suspected, with commas")
	fs.IntVar(&o.n, "n", 8, "ranks of allreduce")
	fs.IntVar(&o.rounds, "rounds", 7, "turns of each setting")
	fs.DurationVar(&o.time, "time", time.Second, "for each operation, size and turn: many heartbeats must fall into it")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.periods, err = durations(*periods); err != nil {
		return o, err
	}
	if o.suspect, err = durations(*suspect); err != nil {
		return o, err
	}
	if o.n < 2 || o.rounds < 1 || o.time <= 0 || fs.NArg() > 0 {
		return o, errors.New("want -n from 2 up, -rounds from 1 up, -time above 0, no other argument")
	}
	return o, nil
}

// durations reads a list with commas; the durations of an empty list are none.
func durations(list string) (all []time.Duration, err error) {
	if list == "" {
		return nil, nil
	}
	for s := range strings.SplitSeq(list, ",") {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("%q is no duration, want one as 10ms", s)
		}
		all = append(all, d)
	}
	return all, nil
}

func drive(ctx context.Context, o options) error {
	bin, remove, err := job.BuildTemp(ctx, "noise")
	if err != nil {
		return err
	}
	defer remove()
	t := newTable(o.periods, o.suspect)
	for range o.rounds {
		for i, s := range t.settings {
			for _, p := range programs(o) {
				res, err := job.Run(ctx, limit(o), bin.Command(p.name, p.n, s.flags(), p.args))
				if err != nil {
					return err
				}
				for _, r := range res.Records {
					t.add(i, r)
				}
			}
		}
	}
	return t.print(os.Stdout)
}

// limit is the time after which a job counts as hanging: far more than its share of time.
func limit(o options) time.Duration { return time.Minute + 20*o.time }

type program struct {
	name string
	n    int
	args []string
}

func programs(o options) []program {
	budget := []string{"-json", "-time", o.time.String()}
	return []program{
		{"p2p", 2, append([]string{"-ops", "latency,bandwidth", "-sizes", "8,64K,1M"}, budget...)},
		{"coll", o.n, append([]string{"-ops", "allreduce", "-sizes", "8,64K,1M"}, budget...)},
	}
}
