// Package massdeath kills half of a job within a second, or all but one rank, or half of the job in
// Init, in Finalize, in Split, or in repairs. The survivors repair until they have one communicator
// of exactly the living.
//
//	go run ./bench/measure massdeath
//	go run ./bench/measure massdeath -case almost -n 100 -jobs 5
//	go run ./bench/measure massdeath -seed 7 -first 31 -jobs 1     # that job again
//
// A job is right if all of these hold:
//
//   - Each survivor, after its last repair, has the same list of members as all others, by a
//     reduction of its hash and by a broadcast of the list.
//   - Each survivor has had the same outcomes on the way.
//   - Only the dead are missing in the list.
//   - Finalize returns at each survivor.
//   - The job ends in time with exit code 0 and leaves nothing.
//
// The times are from the last death to the moment at which the last survivor had the last
// communicator, on the clock of the launcher's report.
package massdeath

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// The cases: the calls during which ranks die.
const (
	half     = "half"     // barriers and reductions
	almost   = "almost"   // the same; one rank is left
	split    = "split"    // Split
	recovery = "recovery" // revocations and shrinks
	inInit   = "init"
	finalize = "finalize"
	all      = "all" // these, job by job
)

var cases = []string{half, almost, split, recovery, inInit, finalize}

type options struct {
	trial.Flags
	n    int
	die  int // 0: half of them
	kind string
	span time.Duration
	rank bool // this is a rank of a job
}

// Main is the command with these arguments.
func Main(args []string) {
	trial.Program[options]{Name: "massdeath", Parse: parse, Rank: beRank, Drive: drive}.Main(args)
}

// beRank is the program of a rank.
func beRank(o options) bool {
	if !o.rank {
		return false
	}
	doomed := o.kind == inInit && lot()
	var rank int
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error {
		rank = w.Rank()
		m := newMember(w, o, os.Stdout, trial.Die)
		switch {
		case doomed:
			select {} // its instant comes
		case o.kind == inInit:
			return m.settle(ctx)
		case o.kind == finalize:
			return m.dieLater(ctx)
		}
		return m.run(ctx)
	}))
	fmt.Printf("massdeath: rank %d finalized\n", rank)
	return true
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("massdeath", "usage: measure massdeath [flags]\n"+
		"Half of a job dies within a second, or all but one rank, during any call; the others have to end\n"+
		"with one communicator of exactly the living. Times are from the last death to that communicator.", out)
	o.Register(fs, "jobs", 20)
	fs.IntVar(&o.n, "n", 64, "ranks of each job")
	fs.IntVar(&o.die, "die", 0, "how many of them die; 0: half of them")
	fs.StringVar(&o.kind, "case", all, "the calls meanwhile: "+strings.Join(cases, ", ")+", or "+all+" of these, job by job")
	fs.DurationVar(&o.span, "span", time.Second, "the time in which they die")
	fs.BoolVar(&o.rank, "rank", false, "be a rank of a job: goulfm run -n 64 ./bench/measure massdeath -rank -seed 1 -case half")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.die == 0 {
		o.die = o.n / 2
	}
	if o.n < 2 || o.die < 1 || o.die >= o.n || o.span <= 0 || !slices.Contains(append(cases, all), o.kind) || fs.NArg() > 0 {
		return o, errors.New("want -n from 2 up, -die from 1 to one less, -span above 0, a -case that there is, no other argument (-h for help)")
	}
	return o, o.Check()
}
