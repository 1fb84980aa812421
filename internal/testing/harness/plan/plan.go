// Package plan is the flags that the programs of the suite share, and how many
// iterations a batch has. The C twins have the same flags and the same rule, so
// that both sides of a comparison do the same.
package plan

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A Plan says what to measure and how long.
type Plan struct {
	Ops     []string
	Sizes   []int         // bytes
	Batches int           // for each operation and size
	Iters   int           // in a batch; 0: as many as fill Time
	Time    time.Duration // for all batches of one size together
	Format  record.Format
}

// Parse reads the command line. ops are all operations of the program, sizes its
// default sizes; more adds flags of the program's own. The error is flag.ErrHelp when
// help was asked for.
func Parse(program, summary string, ops []string, sizes string, args []string, more ...func(*flag.FlagSet)) (Plan, error) {
	var p Plan
	fs := cli.Flags(program, fmt.Sprintf("usage: goulfm run -n RANKS %s [flags]\n%s", program, summary), os.Stderr)
	opList := fs.String("ops", strings.Join(ops, ","), "operations to measure, with commas")
	sizeList := fs.String("sizes", sizes, "message sizes in bytes, with commas; K and M are 2^10 and 2^20")
	fs.IntVar(&p.Batches, "batches", 21, "batches for each size: the statistics are over their means")
	fs.IntVar(&p.Iters, "iters", 0, "iterations in a batch; 0 for as many as fill -time")
	fs.DurationVar(&p.Time, "time", 200*time.Millisecond, "for all batches of one size together")
	csv := fs.Bool("csv", false, "print comma-separated values")
	json := fs.Bool("json", false, "print one line of JSON for each size, with all batches")
	for _, add := range more {
		add(fs)
	}
	if err := fs.Parse(args); err != nil {
		return p, err
	}
	var err error
	if p.Ops, err = choose(*opList, ops); err != nil {
		return p, err
	}
	if p.Sizes, err = Sizes(*sizeList); err != nil {
		return p, err
	}
	p.Format, err = format(*csv, *json)
	return p, errors.Join(err, p.check(fs.Args()))
}

func (p Plan) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("want no argument, have %q", rest)
	case p.Batches < 1 || p.Iters < 0 || p.Time <= 0:
		return errors.New("want -batches from 1 up, -iters from 0 up, -time above 0")
	}
	return nil
}

func format(csv, json bool) (record.Format, error) {
	switch {
	case csv && json:
		return 0, errors.New("want -csv or -json, not both")
	case csv:
		return record.CSV, nil
	case json:
		return record.JSON, nil
	}
	return record.Table, nil
}

// choose returns the operations of the list, in the program's order.
func choose(list string, all []string) ([]string, error) {
	want := strings.Split(list, ",")
	for _, op := range want {
		if !slices.Contains(all, op) {
			return nil, fmt.Errorf("no operation %q; there are %s", op, strings.Join(all, ", "))
		}
	}
	var ops []string
	for _, op := range all {
		if slices.Contains(want, op) {
			ops = append(ops, op)
		}
	}
	return ops, nil
}

// sizeMax bounds a message, in bytes.
const sizeMax = 1 << 30

// Sizes reads a list like "0,8,4K,1M".
func Sizes(list string) ([]int, error) {
	var sizes []int
	for s := range strings.SplitSeq(list, ",") {
		digits, unit := s, 1
		if d, ok := strings.CutSuffix(s, "K"); ok {
			digits, unit = d, 1<<10
		} else if d, ok := strings.CutSuffix(s, "M"); ok {
			digits, unit = d, 1<<20
		}
		v, err := strconv.Atoi(digits)
		if err != nil || v < 0 || v > sizeMax/unit {
			return nil, fmt.Errorf("the size %q is not a number of bytes up to 1 GiB", s)
		}
		sizes = append(sizes, v*unit)
	}
	return sizes, nil
}

// WarmUp is how many iterations with messages of size bytes come before anything is timed:
// as many as in OSU's programs. What comes first finds memory for the first time, and
// measures that.
func WarmUp(size int) int {
	if size > 8<<10 {
		return 10
	}
	return 100
}

// itersMax bounds the iterations of a batch.
const itersMax = 1 << 24

// Next tells, when iters iterations took that long, how many to try next, or
// with done how many a batch has: as many as fill its share of Time. The trial
// has to take a quarter of the share, since a shorter one says too little.
func (p Plan) Next(iters int, took time.Duration) (next int, done bool) {
	share := float64(p.Time) / float64(p.Batches)
	if float64(took)*4 < share && iters < itersMax {
		return min(iters*4, itersMax), false
	}
	n := float64(iters) * share / float64(max(took, 1))
	return int(min(max(n, 1), itersMax)), true
}
