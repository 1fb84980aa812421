// Recovery measures what it costs to outlive deaths, with real processes that are killed, beside
// the goals of package recovery and the figures of a paper.
//
//	go run ./bench/recovery                           what was aimed at: repairs, commits, restores, protection in vain
//	go run ./bench/recovery -only commit -csv x.csv   rows whose text has that, and all single values
//	go run ./bench/recovery -figure fenix             shrinks, phases of a repair, a program that loses ranks
//	go run ./bench/recovery -figure lflr              finite elements with an agreement in each iteration
//	go run ./bench/recovery -figure daly              a program that loses ranks at random, and commits at several intervals
//	go run ./bench/recovery -figure all -table bench/RECOVERY.md
//
// The paper is Herault et al., Practical Scalable Consensus for Pseudo-Synchronous Distributed
// Systems, SC'15 (ERA), section 4.2: S3D in Fenix (figures 4a to 4c), MiniFE in LFLR (figures 5a to
// 5c). bench/figures -only fenix,lflr simulates its sizes, and draws what is measured here beside
// that: each figure is a CSV file in the folder -out. The figure daly is beside Daly, A higher
// order estimate of the optimum checkpoint interval for restart dumps, FGCS 22(3), 2006, which
// package pace follows.
//
// The processes of a job are this program again (-rank), or one of examples. Times that begin with
// a death are from just before the SIGKILL, by CLOCK_MONOTONIC, which all processes share: the
// victim writes it to a file that all have mapped.
//
// Reading order: main.go, goals.go, kills.go, memory.go, shrink.go; fenix.go, lflr.go and daly.go;
// bench.go, table.go.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// options are what the flags say.
type options struct {
	figures    []string
	only       string
	quick      bool
	rounds     int // of each measurement; 0: what a row says
	csv        string
	out        string
	simulated  string
	table      string
	goulfm     string
	timeout    time.Duration
	seed       uint64
	rankOption // of a rank
}

// A rankOption is what a rank is told.
type rankOption struct {
	mode   string // empty: this is no rank
	bytes  int
	times  int
	pause  time.Duration
	board  string
	copies bool
	lost   []int
}

// ids are the figures in their order.
var ids = []string{"goals", "fenix", "lflr", "daly"}

// program is this one, its ranks included.
var program = trial.Program[options]{Name: "recovery", Parse: parse, Rank: beRank, Drive: drive}

func main() { program.Main(os.Args[1:]) }

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("recovery", "usage: go run ./bench/recovery [-figure ID[,ID]] [flags]\nWhat it costs to outlive deaths.", out)
	figure := fs.String("figure", "goals", "which: "+strings.Join(ids, ", ")+", with commas, or all")
	fs.StringVar(&o.only, "only", "", "of the goals, and of 4a, 4b, 4c and overhead of fenix, those whose text has this")
	fs.BoolVar(&o.quick, "quick", false, "small sizes, few rounds")
	fs.IntVar(&o.rounds, "rounds", 0, "of each measurement (default: what it needs)")
	fs.StringVar(&o.csv, "csv", "", "file for all single values")
	fs.StringVar(&o.out, "out", "bench/recovery/out", "folder for the CSV files of figures")
	fs.StringVar(&o.simulated, "simulated", "bench/figures/out", "folder in which bench/figures has put what it simulated")
	fs.StringVar(&o.table, "table", "", "page whose tables to replace, each after its line <!-- ID -->; with -only those rows alone")
	fs.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build cmd/goulfm)")
	fs.DurationVar(&o.timeout, "timeout", 2*time.Minute, "a job that takes longer hangs")
	fs.Uint64Var(&o.seed, "seed", 1, "of the moments at which ranks die in daly, and which")
	fs.StringVar(&o.mode, "rank", "", "be a rank of a job: kills, commit, idle or shrink; the flags below are for that")
	fs.IntVar(&o.bytes, "bytes", 0, "what each rank protects")
	fs.IntVar(&o.times, "times", 3, "how many deaths one after the other, or commits")
	fs.DurationVar(&o.pause, "pause", 50*time.Millisecond, "before each")
	fs.StringVar(&o.board, "board", "", "file of the moments of deaths")
	fs.BoolVar(&o.copies, "copies", false, "copies at another rank instead of node memory")
	lost := fs.String("lost", "", "ranks that die together, with commas")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.figures, err = figuresOf(*figure); err == nil && *lost != "" {
		o.lost, err = job.Counts(*lost, 0)
	}
	if err == nil && (fs.NArg() > 0 || min(o.rounds, o.bytes, o.times) < 0 || o.timeout <= 0 || o.pause < 0) {
		err = errors.New("want numbers from 0 up, -timeout above 0, no other argument (-h for help)")
	}
	return o, err
}

// figuresOf reads the names of figures.
func figuresOf(list string) ([]string, error) {
	if list == "all" {
		return ids, nil
	}
	all := strings.Split(list, ",")
	for _, id := range all {
		if !slices.Contains(ids, id) {
			return nil, fmt.Errorf("-figure %s: want some of %s with commas, or all", list, strings.Join(ids, ","))
		}
	}
	return all, nil
}

// drive takes the figures one after the other.
func drive(o options, out io.Writer) (int, error) {
	b, err := open(o)
	if err != nil {
		return 0, err
	}
	defer b.close()
	take := map[string]func() (*table, error){"goals": b.goals, "fenix": b.fenix, "lflr": b.lflr, "daly": b.daly}
	for _, id := range o.figures {
		t, err := take[id]()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", id, err)
		}
		fmt.Fprint(out, t.text())
		if err := b.publish(t); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
