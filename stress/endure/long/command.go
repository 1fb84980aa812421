// Package long repeats the whole run of section 4.3 of Herault et al., Practical Scalable Consensus
// (SC'15, ERA), in pieces that survive an interrupt. In the paper's 24 hours, 128 processes
// completed 969,739 agreements, while 146,213 processes failed and were replaced.
//
//	go run ./stress/endure long
//	go run ./stress/endure long -for-all 1h
//	go run ./stress/endure long -summary
//
// A piece is a job of command day, with a seed of its own. When it has ended, the driver appends a
// row to a log, a CSV file, and starts the next piece, until the sums of the log reach the paper's
// numbers. Started again, the driver reads the log and continues with the next seed. An interrupt
// therefore loses at most the piece under way. The job ends with its driver, also after kill -9 on
// Linux. A row that kill -9 has torn is removed at the next start.
//
// Only right pieces count in the sums of agreements and failures. A wrong result ends the run. The
// driver kills a piece that does not end in time, counts a hang, and starts the next piece. For
// both faults the driver prints the command that repeats the piece, and its output. The exit code
// is 0 only if the log has neither wrong pieces nor hangs, 1 if it has, 130 after an interrupt, and
// 3 if no piece could be started.
//
// After kill -9 the folder long* with the programs of the job remains in the folder for temporary
// files. go run does not forward SIGTERM. Build the program for runs without a terminal:
//
//	go build -o bin/endure ./stress/endure && nohup bin/endure long &
package long

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/machine"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	agreements, failures uint64
	piece, every         time.Duration
	whole                time.Duration // 0: until the sums are reached
	grace                time.Duration
	n, spares            int
	launch               string
	seed                 uint64
	log                  string
	goulfm               string
	summary              bool
	table                string
}

// The numbers of the paper.
const (
	paperAgreements = 969739
	paperFailures   = 146213
	paperSeconds    = 86400
)

// shortest is the length of the shortest piece.
const shortest = time.Second

// Main is the command with these arguments.
func Main(args []string) {
	trial.Program[options]{Name: "long", Parse: parse, Drive: drive}.Main(args)
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("long", "usage: endure long [flags]\n"+
		"Runs jobs of command day one after the other until they have made the agreements, and lost and\n"+
		"replaced the processes, of the paper's 24 hours. Each job appends a row to a log. After an interrupt\n"+
		"the same command continues with the next row.", out)
	fs.Uint64Var(&o.agreements, "agreements", paperAgreements, "end when the log has this number of agreements ...")
	fs.Uint64Var(&o.failures, "failures", paperFailures, "... and this number of failures")
	fs.DurationVar(&o.piece, "piece", 5*time.Minute, "length of a piece")
	fs.DurationVar(&o.whole, "for-all", 0, "end after this time, even if the log is not complete; 0: no limit")
	fs.DurationVar(&o.grace, "grace", time.Minute, "a piece that takes so much longer than its length hangs")
	fs.DurationVar(&o.every, "every", 30*time.Second, "time between two lines about the progress of a piece")
	fs.IntVar(&o.n, "n", 8, "ranks of a job")
	fs.IntVar(&o.spares, "spares", 1, "spare processes of a job")
	fs.StringVar(&o.launch, "launch", "", "more flags of goulfm run, such as \"--host 4 --ppn 2\"")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the first piece of a new log")
	fs.StringVar(&o.log, "log", "stress/endure/long/out/pieces.csv", "the log")
	fs.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build cmd/goulfm)")
	fs.BoolVar(&o.summary, "summary", false, "run nothing; print a table of the log, and write a drawing beside the log")
	fs.StringVar(&o.table, "table", "", "with -summary: a page in which the table replaces the former one")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.piece < shortest || o.grace <= 0 || o.every <= 0 || o.whole < 0:
		return o, fmt.Errorf("want -piece from %v up, -grace and -every above 0, -for-all of at least 0 (-h for help)", shortest)
	case o.n < 2 || o.spares < 0 || o.log == "" || fs.NArg() > 0:
		return o, errors.New("want -n from 2 up, -spares from 0 up, a file for -log, no other argument (-h for help)")
	case o.table != "" && !o.summary:
		return o, errors.New("-table needs -summary (-h for help)")
	}
	return o, nil
}

// codeInterrupted is the exit code after an interrupt, as that of a shell.
const codeInterrupted = 130

// drive runs the pieces, or summarizes them, and returns the exit code.
func drive(o options, out io.Writer) (int, error) {
	if o.summary {
		return 0, summarize(o, out)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := openBook(o.log)
	if err != nil {
		return 0, err
	}
	defer b.close()
	place, err := trial.Open("long", o.goulfm, 0)
	if err != nil {
		return 0, err
	}
	defer place.Close()
	j := job{options: o, goulfm: place.Goulfm, self: place.Self}
	d := driver{options: o, book: b, run: j.run, command: j.again, now: time.Now, out: out, errs: os.Stderr}
	return d.all(ctx)
}

// An outcome is a row of the log, and the output of a piece that went wrong.
type outcome struct {
	row
	transcript string
}

// A driver runs pieces.
type driver struct {
	options
	book *book
	// run runs a piece, and passes each line about its progress to note. It returns an error if the
	// job could not be started.
	run     func(ctx context.Context, seed uint64, length time.Duration, note func(progress)) (outcome, error)
	command func(seed uint64, length time.Duration) string // repeats a piece
	now     func() time.Time
	out     io.Writer // for the sums
	errs    io.Writer // for progress and faults
}

// all runs pieces until the log is complete, the time is over, a result is wrong, or ctx ends.
func (d *driver) all(ctx context.Context) (int, error) {
	start := d.now()
	for d.isOpen() {
		length := d.piece
		if d.whole > 0 {
			if length = min(length, d.whole-d.now().Sub(start)); length < shortest {
				break
			}
		}
		seed := d.book.next(d.seed)
		o, err := d.run(ctx, seed, length, func(p progress) { d.note(seed, p) })
		if ctx.Err() != nil && (err != nil || !o.right()) {
			fmt.Fprintf(d.errs, "long: interrupted; the same command continues with seed %d\n", seed)
			d.printSums()
			return codeInterrupted, nil
		}
		if err == nil {
			err = d.add(o, length)
		}
		if err != nil {
			return 0, err
		}
		if o.Wrong > 0 {
			break
		}
	}
	d.printSums()
	if s := d.book.sums(); s.Wrong > 0 || s.Hangs > 0 {
		return 1, nil
	}
	return 0, nil
}

// isOpen reports whether the log is not complete.
func (d *driver) isOpen() bool {
	s := d.book.sums()
	return s.Agreements < d.agreements || s.Failures < d.failures
}

// add appends a piece to the log and prints it.
func (d *driver) add(o outcome, length time.Duration) error {
	if err := d.book.add(o.row); err != nil {
		return err
	}
	fmt.Fprintf(d.errs, "long: seed %d: %.0f s, %d agreements, %d failures; launcher %d, %d, %d KiB, rank at most %d KiB; so far %s\n",
		o.Seed, o.Seconds, o.Agreements, o.Failures, o.Start, o.Tenth, o.End, o.Rank, d.book.sums())
	fault := ""
	switch {
	case o.Hangs > 0:
		fault = "hangs"
	case o.Wrong > 0:
		fault = fmt.Sprintf("is wrong (exit code %d)", o.Code)
	default:
		return nil
	}
	fmt.Fprintf(d.errs, "\nthe piece of seed %d %s; again: %s\n%s\n", o.Seed, fault, d.command(o.Seed, length), strings.TrimRight(o.transcript, "\n"))
	return nil
}

func (d *driver) note(seed uint64, p progress) {
	fmt.Fprintf(d.errs, "long: seed %d: %.0f s, %d agreements, %d failures\n", seed, p.Seconds, p.Agreements, p.Failures)
}

func (d *driver) printSums() { fmt.Fprintf(d.out, "long: %s\n", d.book.sums()) }

// newRow is the row of a piece that begins now.
func newRow(seed uint64) row {
	return row{Date: time.Now().UTC().Truncate(time.Second), Processor: machine.Processor(), Seed: seed}
}
