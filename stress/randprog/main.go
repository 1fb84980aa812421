// Randprog runs random programs: every call of the library in a mix drawn from a seed, on processes
// that die during the run, or on goroutine ranks of one process. Each result and each error is
// checked, and results that must be the same at all members are compared.
//
//	go run ./stress/randprog -rounds 200                       # processes, under the launcher
//	go run ./stress/randprog -mode nodes -rounds 200           # the same over several nodes
//	go run -race ./stress/randprog -mode goroutines -for 10m   # ranks of one process
//	go run ./stress/randprog -seed 77 -v                       # repeats a round, with its log
//	go run ./stress/randprog -list                             # the operations of programs
//
// A round is one program, drawn from its seed together with the number of ranks, the detector, the
// agreement, and the kind and time of each death. Its ranks run stretches of steps. A stretch ends
// like in a careful program: after an error a member revokes its communicators, all agree on the
// success of the stretch, and after a failure anywhere they shrink and continue with fewer members.
// In some stretches no member revokes or leaves, and every call must still end.
//
// Randprog checks the following properties. Data are functions of seed, step and sender, in
// messages and in windows, whose memory and locks outlive their holders. Agreements, shrinks and
// creations have one outcome at all survivors. Errors name only the dead. A communicator is revoked
// only if a member has revoked it. Nothing hangs, and nothing is left behind.
//
// Every rank writes a log, a line before and after each step, which outlives the rank. For a wrong
// round, randprog prints these logs and the command that repeats the round.
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
	fs.IntVar(&o.rounds, "rounds", 0, "number of rounds, with the seeds from -seed on (default 1 if -seed is given, else 200)")
	fs.DurationVar(&o.span, "for", 0, "repeat rounds for this time")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of the first round; 0: draw a seed and print it")
	fs.StringVar(&o.mode, "mode", modeProcs, "procs, under the launcher; nodes, over several of them on this machine; or goroutines, in this process")
	fs.DurationVar(&o.timeout, "timeout", 30*time.Second, "a round of processes that takes longer counts as hung (of goroutines: a minute)")
	fs.StringVar(&o.goulfm, "goulfm", "", "the launcher (default: build cmd/goulfm)")
	fs.StringVar(&o.only, "only", "", "operations to draw from, such as \"agree,bcast,i:*\"; * at the end matches any rest")
	fs.StringVar(&o.without, "without", "", "operations not to draw")
	fs.StringVar(&o.with, "with", "", "only rounds with all of these features, such as \"--fence,era\", as printed at the end of a run; other seeds are skipped")
	fs.BoolVar(&o.verbose, "v", false, "the log of every round")
	fs.BoolVar(&o.list, "list", false, "list the operations")
	fs.BoolVar(&o.points, "failpoints", false, "let some ranks die at a kill point; programs of processes are also built with -tags failpoints; for goroutines build this program with the tag")
	fs.BoolVar(&o.rank, "rank", false, "run as a rank of a round")
	fs.StringVar(&o.log, "log", "", "the directory of a rank's log")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 0 || o.span < 0 || o.timeout <= 0 || fs.NArg() > 0 || !slices.Contains([]string{modeProcs, modeNodes, modeGoroutines}, o.mode) {
		return o, fmt.Errorf("-rounds and -for must be 0 or more, -timeout above 0, -mode procs, nodes or goroutines; there are no other arguments (-h for help)")
	}
	if o.points && o.mode == modeGoroutines && !pointsBuilt {
		return o, fmt.Errorf("-failpoints of goroutines requires a program that is built with -tags failpoints")
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

// operations returns the operations from which programs are drawn.
func (o *options) operations() []*operation {
	var chosen []*operation
	for _, op := range table {
		if (o.only == "" || named(o.only, op.name)) && !named(o.without, op.name) {
			chosen = append(chosen, op)
		}
	}
	return chosen
}

// named reports whether a list contains a name, or a prefix of the name followed by *.
func named(list, name string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if begin, open := strings.CutSuffix(part, "*"); part == name || open && strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// again returns the command that repeats a round.
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
