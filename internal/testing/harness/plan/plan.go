// Package plan defines the flags that the programs of the suite share, and the number of iterations
// of a batch. The C twins have the same flags and the same rule, so that both sides of a comparison
// do the same work.
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

// A Plan defines the operations to measure and the time for them.
type Plan struct {
	Ops     []string
	Sizes   []int         // bytes
	Batches int           // for each operation and size
	Iters   int           // in a batch; 0: as many as fill Time
	Time    time.Duration // for all batches of one size together
	Format  record.Format
}

// Parse reads the command line. The argument ops lists all operations of the program, sizes its
// default sizes. Each function of more adds flags of the program's own. The error is flag.ErrHelp
// after a request for help.
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
		return fmt.Errorf("no argument is allowed after the flags, have %q", rest)
	case p.Batches < 1 || p.Iters < 0 || p.Time <= 0:
		return errors.New("-batches must be 1 or more, -iters 0 or more, -time above 0")
	}
	return nil
}

func format(csv, json bool) (record.Format, error) {
	switch {
	case csv && json:
		return 0, errors.New("-csv and -json are both set: set one, not both")
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

// Sizes reads a list such as "0,8,4K,1M".
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

// WarmUp returns the number of untimed iterations with messages of size bytes that come first, the
// same number as in OSU's programs. The first iterations would also measure the first use of
// memory.
func WarmUp(size int) int {
	if size > 8<<10 {
		return 10
	}
	return 100
}

// itersMax bounds the iterations of a batch.
const itersMax = 1 << 24

// Next returns the next number of iterations to try after iters iterations took the given time.
// With done the result is the number for a batch: enough to fill its share of Time. The trial must
// take at least a quarter of the share, because a shorter one is too inaccurate.
func (p Plan) Next(iters int, took time.Duration) (next int, done bool) {
	share := float64(p.Time) / float64(p.Batches)
	if float64(took)*4 < share && iters < itersMax {
		return min(iters*4, itersMax), false
	}
	n := float64(iters) * share / float64(max(took, 1))
	return int(min(max(n, 1), itersMax)), true
}
