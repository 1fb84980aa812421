// Package failures measures agreements of real ranks after one or more failures: the right graph of
// Figure 10 of RR-9024 (Bosilca et al., section 5.5).
//
//	go run ./bench/measure failures -csv bench/measure/agree/out/ring10right-ranks.csv
//
// Each job is bench/measure agree with -deaths. In each turn every number of deaths has one job, and
// the seed of the turn selects the ranks that die. The result is the median over the turns of the
// median of each phase: without failures, the agreement that detects the failures, the one after
// their acknowledgement, and the later ones.
package failures

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/machine"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

type options struct {
	n, turns, calls int
	deaths          []int
	csv             string
	busy            bool
	limit           time.Duration
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args, os.Stderr)
	cli.Check("failures", err)
	cli.Run("failures", func(ctx context.Context) error { return drive(ctx, o, os.Stdout) })
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("failures", "usage: measure failures [flags]\nTime of agreements of real ranks after one or more failures.", out)
	fs.IntVar(&o.n, "n", 32, "ranks of each job")
	list := fs.String("deaths", "1,2,4,8,16", "numbers of ranks that die, with commas")
	fs.IntVar(&o.turns, "turns", 11, "jobs for each number of deaths")
	fs.IntVar(&o.calls, "calls", 100, "agreements before and after the failures")
	fs.StringVar(&o.csv, "csv", "", "write the medians to this file, too")
	fs.BoolVar(&o.busy, "busy", false, "measure even if the load average is above 1")
	fs.DurationVar(&o.limit, "limit", 2*time.Minute, "of one job")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.deaths, err = job.Counts(*list, 1); err != nil {
		return o, fmt.Errorf("-deaths: %w", err)
	}
	if o.n < 2 || slices.Max(o.deaths) >= o.n || o.turns < 1 || o.calls < 1 || o.limit <= 0 || fs.NArg() > 0 {
		return o, errors.New("want -n from 2 up, -deaths below it, -turns and -calls from 1 up, -limit above 0, no other argument (-h for help)")
	}
	return o, nil
}

// curves are the names of the phases of bench/measure agree in the figure.
var curves = []struct{ phase, name string }{
	{"before", "measured, without failures"},
	{"first", "measured, detecting"},
	{"acknowledge", "measured, after the acknowledgement"},
	{"after", "measured, later"},
}

// A place is one phase after a number of deaths.
type place struct {
	phase  string
	deaths int
}

// A runner runs one job and returns its records.
type runner func(ctx context.Context, deaths, turn int) ([]record.Record, error)

func drive(ctx context.Context, o options, out io.Writer) error {
	load, err := machine.Quiet(o.busy)
	if err != nil {
		return err
	}
	bin, remove, err := job.BuildTemp(ctx, "failures")
	if err != nil {
		return err
	}
	defer remove()
	medians, err := o.measure(ctx, func(ctx context.Context, deaths, turn int) ([]record.Record, error) {
		calls := strconv.Itoa(o.calls)
		res, err := job.Run(ctx, o.limit, bin.Command("agree", o.n, nil, []string{"-json", "-before", calls, "-after", calls, "-deaths", strconv.Itoa(deaths), "-seed", strconv.Itoa(turn + 1)}))
		return res.Records, err
	})
	if err != nil {
		return err
	}
	o.print(out, load, medians)
	if o.csv == "" {
		return nil
	}
	return o.write(medians)
}

// measure gives each number of deaths its turns.
func (o options) measure(ctx context.Context, run runner) (map[place]float64, error) {
	all := map[place][]float64{}
	for turn := range o.turns {
		for _, deaths := range o.deaths {
			records, err := run(ctx, deaths, turn)
			if err == nil && len(records) != len(curves) {
				err = fmt.Errorf("%d records, want %d", len(records), len(curves))
			}
			if err != nil {
				return nil, fmt.Errorf("%d deaths, turn %d: %w", deaths, turn+1, err)
			}
			for _, r := range records {
				p := place{r.Bench, deaths}
				all[p] = append(all[p], r.Summary().Median)
			}
		}
	}
	medians := map[place]float64{}
	for p, v := range all {
		medians[p] = record.Median(v)
	}
	return medians, nil
}

func (o options) print(out io.Writer, load string, medians map[place]float64) {
	fmt.Fprintf(out, "failures: %d ranks, %d turns, load average %s at the start; us, slowest rank, medians\n%-36s", o.n, o.turns, load, "deaths")
	for _, d := range o.deaths {
		fmt.Fprintf(out, " %9d", d)
	}
	for _, c := range curves {
		fmt.Fprintf(out, "\n%-36s", c.name)
		for _, d := range o.deaths {
			fmt.Fprintf(out, " %9.1f", medians[place{c.phase, d}])
		}
	}
	fmt.Fprintln(out)
}

// write makes the file that bench/figures draws.
func (o options) write(medians map[place]float64) error {
	f, err := os.Create(o.csv)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"curve", "failures", "us"}) // w.Error returns the first error
	for _, c := range curves {
		for _, d := range o.deaths {
			_ = w.Write([]string{c.name + ", " + strconv.Itoa(o.n) + " ranks", strconv.Itoa(d), strconv.FormatFloat(medians[place{c.phase, d}], 'f', 1, 64)})
		}
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}
