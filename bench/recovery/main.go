// Recovery measures the costs of surviving deaths, with real processes that are killed, beside the
// goals of package recovery and the figures of a paper.
//
// The goals: repairs, commits, restores, and protection in a program without failures. With -only
// it measures the rows with a given word in their text; -csv writes all single values.
//
//	go run ./bench/recovery
//	go run ./bench/recovery -only commit -csv x.csv
//
// Shrinks, phases of a repair, and a program that loses ranks; finite elements with an agreement in
// each iteration; a program that loses ranks at random, and commits at several intervals:
//
//	go run ./bench/recovery -figure fenix
//	go run ./bench/recovery -figure lflr
//	go run ./bench/recovery -figure daly
//	go run ./bench/recovery -figure all -table bench/RECOVERY.md
//
// The paper is Herault et al., Practical Scalable Consensus for Pseudo-Synchronous Distributed
// Systems, SC'15 (ERA), section 4.2: S3D in Fenix (figures 4a to 4c), MiniFE in LFLR (figures 5a to
// 5c). bench/figures -only fenix,lflr simulates the sizes of the paper, and draws these
// measurements beside the simulation: each figure is a CSV file in the folder -out. The figure daly
// is beside Daly, A higher order estimate of the optimum checkpoint interval for restart dumps,
// FGCS 22(3), 2006, which package pace follows.
//
// The processes of a job are this program again (-rank), or one of examples. Times that begin with
// a death are from just before the SIGKILL, by CLOCK_MONOTONIC, which all processes share: the
// victim writes the time to a file that all have mapped.
//
// Reading order:
//
//	main.go, goals.go, kills.go, memory.go, shrink.go
//	fenix.go, lflr.go, daly.go
//	bench.go, table.go
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

// options are the values of the flags.
type options struct {
	figures    []string
	only       string
	quick      bool
	rounds     int // of each measurement; 0: the default of a row
	csv        string
	out        string
	simulated  string
	table      string
	goulfm     string
	timeout    time.Duration
	seed       uint64
	rankOption // of a rank
}

// A rankOption is an option for a rank.
type rankOption struct {
	mode   string // empty: this process is no rank
	bytes  int
	times  int
	pause  time.Duration
	board  string
	copies bool
	lost   []int
}

// ids are the figures in their order.
var ids = []string{"goals", "fenix", "lflr", "daly"}

// program is this program, its ranks included.
var program = trial.Program[options]{Name: "recovery", Parse: parse, Rank: beRank, Drive: drive}

func main() { program.Main(os.Args[1:]) }

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("recovery", "usage: go run ./bench/recovery [-figure ID[,ID]] [flags]\nThe costs of surviving deaths.", out)
	figure := fs.String("figure", "goals", "which: "+strings.Join(ids, ", ")+", with commas, or all")
	fs.StringVar(&o.only, "only", "", "of the goals, and of 4a, 4b, 4c and overhead of fenix, those whose text has this")
	fs.BoolVar(&o.quick, "quick", false, "small sizes, few rounds")
	fs.IntVar(&o.rounds, "rounds", 0, "of each measurement (default: each has its own)")
	fs.StringVar(&o.csv, "csv", "", "file for all single values")
	fs.StringVar(&o.out, "out", "bench/recovery/out", "folder for the CSV files of figures")
	fs.StringVar(&o.simulated, "simulated", "bench/figures/out", "folder with the simulated figures of bench/figures")
	fs.StringVar(&o.table, "table", "", "page whose tables to replace, each after its line <!-- ID -->; with -only those rows alone")
	fs.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build cmd/goulfm)")
	fs.DurationVar(&o.timeout, "timeout", 2*time.Minute, "a job that takes longer hangs")
	fs.Uint64Var(&o.seed, "seed", 1, "of the moments at which ranks die in daly, and which")
	fs.StringVar(&o.mode, "rank", "", "be a rank of a job: kills, commit, idle or shrink; the flags below are for that")
	fs.IntVar(&o.bytes, "bytes", 0, "bytes that each rank protects")
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
