// Randprog runs random programs: every call of the library in a mix drawn from a seed,
// on processes that die on the way, or on goroutine ranks of one process. Each result is
// checked, each error too, and what all have to agree on is compared.
//
//	go run ./stress/randprog -rounds 200                       # processes, under the launcher
//	go run ./stress/randprog -mode nodes -rounds 200           # the same over several nodes
//	go run -race ./stress/randprog -mode goroutines -for 10m   # ranks of one process
//	go run ./stress/randprog -seed 77 -v                       # that round again, with its log
//	go run ./stress/randprog -list                             # what programs are made of
//
// A round is one program, drawn from its seed with the number of ranks, the detector, the
// agreement, who dies how and when. Its ranks play stretches of steps. A stretch ends as a
// careful program does it: after an error a member revokes its communicators, all agree on
// how it went, and if it went badly anywhere they shrink and go on with fewer. In some
// stretches nobody revokes or leaves, and every call has to end all the same.
//
// What is checked: data are functions of seed, step and sender, in messages and in windows, whose
// memory and locks outlive their holders; agreements, shrinks and creations have one outcome at all
// survivors; errors name only the dead; a communicator is revoked only if somebody revoked it;
// nothing hangs, and nothing is left behind.
//
// Every rank writes a log, a line before and after each step, which outlives it. A round
// that goes wrong is told with these logs and the command that runs it again.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	rounds  int
	span    time.Duration
	seed    uint64
	mode    string
	timeout time.Duration
	goulfm  string
	only    string
	without string
	with    string
	verbose bool
	list    bool
	points  bool

	rank bool
	log  string
}

func main() {
	trial.Program[options]{Name: "randprog", Parse: parse, Rank: beRank, Drive: drive}.Main(os.Args[1:])
}

const (
	modeProcs      = "procs"
	modeNodes      = "nodes" // processes on several nodes
	modeGoroutines = "goroutines"
)

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("randprog", "usage: randprog [flags]\nRandom programs under deaths, every result checked. Exit code 1: a round went wrong.", out)
	fs.IntVar(&o.rounds, "rounds", 0, "how many rounds, with the seeds from -seed on (default 1 if -seed is given, else 200)")
	fs.DurationVar(&o.span, "for", 0, "or as many rounds as there is time for")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of the first round; 0: take one, it is printed")
	fs.StringVar(&o.mode, "mode", modeProcs, "procs, under the launcher; nodes, over several of them on this machine; or goroutines, in this process")
	fs.DurationVar(&o.timeout, "timeout", 30*time.Second, "a round of processes that takes longer hangs (of goroutines: a minute)")
	fs.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build cmd/goulfm)")
	fs.StringVar(&o.only, "only", "", "operations to draw from, as \"agree,bcast,i:*\"; * at the end is any rest")
	fs.StringVar(&o.without, "without", "", "operations not to draw")
	fs.StringVar(&o.with, "with", "", "only rounds that have all of these, as \"--fence,era\", by the words at the end of a run; other seeds are passed over")
	fs.BoolVar(&o.verbose, "v", false, "the log of every round")
	fs.BoolVar(&o.list, "list", false, "list the operations")
	fs.BoolVar(&o.points, "failpoints", false, "let some ranks die at a kill point: those of processes are built with -tags failpoints, too; for goroutines this program must be")
	fs.BoolVar(&o.rank, "rank", false, "be a rank of a round")
	fs.StringVar(&o.log, "log", "", "the folder of a rank's log")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 0 || o.span < 0 || o.timeout <= 0 || fs.NArg() > 0 || !slices.Contains([]string{modeProcs, modeNodes, modeGoroutines}, o.mode) {
		return o, fmt.Errorf("want -rounds and -for from 0 up, -timeout above 0, -mode procs, nodes or goroutines, no other argument (-h for help)")
	}
	if o.points && o.mode == modeGoroutines && !pointsBuilt {
		return o, fmt.Errorf("-failpoints of goroutines takes a program that is built with -tags failpoints")
	}
	if len(o.operations()) == 0 {
		return o, fmt.Errorf("-only and -without leave no operation")
	}
	switch {
	case o.rounds > 0 || o.span > 0:
	case o.seed != 0:
		o.rounds = 1
	default:
		o.rounds = 200
	}
	o.seed = trial.Seed(o.seed)
	return o, nil
}

// operations are those that programs are drawn from.
func (o *options) operations() []*operation {
	var chosen []*operation
	for _, op := range table {
		if (o.only == "" || named(o.only, op.name)) && !named(o.without, op.name) {
			chosen = append(chosen, op)
		}
	}
	return chosen
}

// named says whether a list has a name, or a beginning of it followed by *.
func named(list, name string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if begin, open := strings.CutSuffix(part, "*"); part == name || open && strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// again is the command that runs a round again.
func (o *options) again(seed uint64) string {
	var b strings.Builder
	b.WriteString("go run ")
	if o.points && o.mode == modeGoroutines {
		b.WriteString("-tags failpoints ")
	}
	fmt.Fprintf(&b, "./stress/randprog -mode %s -seed %d", o.mode, seed)
	if o.points {
		b.WriteString(" -failpoints")
	}
	if o.only != "" {
		fmt.Fprintf(&b, " -only '%s'", o.only)
	}
	if o.without != "" {
		fmt.Fprintf(&b, " -without '%s'", o.without)
	}
	return b.String() + " -v"
}
