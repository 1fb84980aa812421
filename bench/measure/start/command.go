// Package start measures the life of a program with only Init, a barrier and Finalize: from the
// start of the launcher to its end.
//
//	go run ./bench/measure start -n 2,16,64
package start

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

type options struct {
	rank   bool
	counts []int
	runs   int
	format record.Format
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args)
	cli.Check("start", err)
	if o.rank {
		comm.Main(rank)
		return
	}
	cli.Run("start", func(ctx context.Context) error { return drive(ctx, o, os.Stdout) })
}

func parse(args []string) (options, error) {
	var o options
	fs := cli.Flags("start", "usage: measure start [flags]\nHow long a job lives that does nothing: launcher, Init, a barrier, Finalize.", os.Stderr)
	list := fs.String("n", "2,16,64", "numbers of ranks, with commas")
	fs.IntVar(&o.runs, "runs", 11, "jobs for each number of ranks")
	json := fs.Bool("json", false, "print one line of JSON for each number of ranks")
	fs.BoolVar(&o.rank, "rank", false, "internal: be a rank of the job")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.counts, err = job.Counts(*list, 1); err != nil {
		return o, err
	}
	if o.runs < 1 || fs.NArg() > 0 {
		return o, errors.New("want -runs from 1 up, no other argument")
	}
	if *json {
		o.format = record.JSON
	}
	return o, nil
}

// rank is the whole program between Init and Finalize.
func rank(ctx context.Context, w *comm.Comm) error { return collectives.Barrier(ctx, w) }

// limit ends a job that does not end by itself.
const limit = 2 * time.Minute

func drive(ctx context.Context, o options, out io.Writer) error {
	bin, remove, err := job.BuildTemp(ctx, "start")
	if err != nil {
		return err
	}
	defer remove()
	w := record.NewWriter(out, o.format)
	for _, n := range o.counts {
		r, err := measure(ctx, n, o.runs, bin.Command("start", n, nil, []string{"-rank"}))
		if err == nil {
			err = w.Write(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// measure runs the job once without a measurement: the first start reads the disk.
func measure(ctx context.Context, n, runs int, argv []string) (record.Record, error) {
	r := record.Record{Bench: "start", N: n, Unit: record.Millis}
	for i := range runs + 1 {
		res, err := job.Run(ctx, limit, argv)
		if err != nil {
			return r, err
		}
		if i > 0 {
			r.Batches = append(r.Batches, res.Took.Seconds()*1e3)
		}
	}
	return r, nil
}
