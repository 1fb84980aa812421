// Ab compares the speed of two revisions of this module.
//
//	make ab                                            this tree beside the revision in bench/BASE
//	make ab BASE=ddabe7e AB="-only shrink,detect"      some rows, beside another revision
//	go run ./bench/ab -base 9f4c5eb -head 1bd2d7d      two revisions
//	go run ./bench/ab -short -limit                    the gate of make check
//
// A machine changes its speed from one minute to the next, so figures of different minutes cannot
// be compared. Both revisions are built into folders of their own. Each job of a row then runs in
// turn, base, head, head, base, and so on. A pair is two turns that follow each other, and a ratio
// is that of one pair. Above 1 the head is worse: a ratio is time over time, or the inverse for
// bandwidth and rate. The table has, for each row, the median of both revisions, the median of the
// ratios and their quartiles.
//
// Each revision runs its own measuring programs; paths.tsv finds those of older revisions under
// their old paths. A row that one side lacks is named below the table, with the reason.
//
// # Limits
//
// The table marks a row with a median ratio above 1.05, and the author of the change explains the
// ratio. A row alarms if its median ratio is above 1.3 and three of four pairs are above 1.
// With -limit the rows that alarm are measured again, twice. A row that alarms in all three
// repetitions fails: the exit code is 1, and the last lines name these rows. The exit code is 2 for
// wrong flags and unknown revisions.
//
// # Rows
//
// p2p: latency, windowed bandwidth, rate. coll: barrier, bcast, allreduce, alltoall. ulfm: the
// phases of a failure; with the prefix nodes_ the same between four nodes of one rank each. start:
// the life of a job that does nothing. recovery: commit of 1 MiB, and repair, from a kill until all
// ranks are back. rma: put, get, lock. One job measures all rows of its program and its number of
// ranks.
//
// Reading order: the files main, family, side, turns and report.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
)

type options struct {
	base, head string // revisions; "" for that in baseFile, and for the tree as it is
	overlay    string // of the build of head
	only       []string
	counts     []int // numbers of ranks; nil: all
	pairs      int
	short      bool
	limit      bool
}

// baseFile holds the revision that is the default of -base.
const baseFile = "bench/BASE"

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	cli.Check("ab", err)
	root, err := job.Root(context.Background())
	cli.Check("ab", err)
	cli.Check("ab", o.resolve(root))
	cli.Run("ab", func(ctx context.Context) error { return compare(ctx, root, o, os.Stdout, os.Stderr) })
}

func parse(args []string, errs io.Writer) (options, error) {
	o := options{}
	fs := cli.Flags("ab", "usage: go run ./bench/ab [flags]\nThe speed of this tree, or of -head, beside that of an older revision.", errs)
	fs.StringVar(&o.base, "base", "", "revision to compare with (default: the one in "+baseFile+")")
	fs.StringVar(&o.head, "head", "", "revision to judge (default: this tree, with its uncommitted changes)")
	fs.StringVar(&o.overlay, "overlay", "", "file for go build -overlay, for the build of head alone")
	only := fs.String("only", "", "rows, with commas: names such as shrink, or groups: nodes, rma, recovery, p2p, coll, ulfm")
	counts := fs.String("n", "", "numbers of ranks, with commas (default: all)")
	fs.IntVar(&o.pairs, "pairs", 7, "pairs of turns for each row, at least 1")
	fs.BoolVar(&o.short, "short", false, "the rows of the gate: failures among 4 and 8 and between nodes, some latencies; about 2 minutes")
	fs.BoolVar(&o.limit, "limit", false, "end with code 1 if a row is worse by more than 30 % in three repetitions")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("argument %q: want flags only", fs.Arg(0))
	}
	if o.pairs < 1 {
		return o, fmt.Errorf("-pairs %d: want at least 1", o.pairs)
	}
	var err error
	if *counts != "" {
		if o.counts, err = job.Counts(*counts, 1); err != nil {
			return o, fmt.Errorf("-n: %w", err)
		}
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, word := range o.only {
		if !known(word) {
			return o, fmt.Errorf("-only %s: no such row or group: %s", word, strings.Join(words(), ", "))
		}
	}
	if len(o.families()) == 0 {
		return o, errors.New("no row has all of -only, -n and -short")
	}
	return o, nil
}

// resolve puts hashes in the place of revisions.
func (o *options) resolve(root string) (err error) {
	if o.base == "" {
		if o.base, err = defaultBase(root); err != nil {
			return err
		}
	}
	if o.base, err = resolve(root, o.base); err != nil || o.head == "" {
		return err
	}
	o.head, err = resolve(root, o.head)
	return err
}

// compare builds both sides, measures and prints. The error names the rows that failed the limit.
func compare(ctx context.Context, root string, o options, out, progress io.Writer) error {
	w, err := newWorkshop(root, progress)
	if err != nil {
		return err
	}
	defer w.close()
	base, head, err := w.sides(ctx, o)
	if err != nil {
		return err
	}
	m := &meter{base: base, head: head, pairs: o.pairs, progress: progress}
	return m.judge(ctx, o.families(), o.limit, out)
}

// defaultBase reads the revision in baseFile.
func defaultBase(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, baseFile))
	if err != nil {
		return "", fmt.Errorf("no revision to compare with: %w: name one with -base", err)
	}
	return strings.TrimSpace(string(text)), nil
}
