// Package agree runs agreements while ranks kill themselves, and checks every result.
//
//	goulfm run -n 8 ./stress/endure agree -agreements 20000 -kill-every 1000
//
// About every K agreements one or two ranks die, by SIGKILL from a goroutine of their own, at any
// instruction of the main goroutine. The others shrink and continue. Every rank checks every result
// (checkFlag and history). The exit code is 0 only if there was no violation.
package agree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/ulfm"
)

type options struct {
	agreements int
	seed       uint64
	killEvery  int // 0: no rank dies
	leave      int // ranks that are to be left
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args, os.Stderr)
	cli.Check("agree", err)
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error {
		return newStress(w, o, os.Stdout, trial.Die).run(ctx)
	}))
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("agree", "usage: goulfm run -n RANKS ./stress/endure agree [flags]\n"+
		"Agreements, one after the other, while ranks kill themselves at any instruction; the others shrink\n"+
		"and continue. Every result is checked at every rank.", out)
	fs.IntVar(&o.agreements, "agreements", 5000, "number of agreements")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the flags and victims; the moment of a death is chance")
	fs.IntVar(&o.killEvery, "kill-every", 500, "agreements from one death to the next; 0 for none")
	fs.IntVar(&o.leave, "leave", 2, "never kill when only this many ranks are left")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.agreements < 1 || o.killEvery < 0 || o.leave < 1 || fs.NArg() > 0 {
		return o, errors.New("want -agreements and -leave from 1 up, -kill-every from 0 up, no other argument (-h for help)")
	}
	return o, nil
}

// A stress is one rank's part.
type stress struct {
	options
	c       *comm.Comm
	members []int // world ranks of c
	doomed  []int // world ranks that were chosen to die
	me      int   // world rank
	out     io.Writer
	die     func()
	mean    time.Duration // of an agreement, roughly
	history history
	done    int // agreements
	shrinks int
	world   int // ranks at the start
}

func newStress(w *comm.Comm, o options, out io.Writer, die func()) *stress {
	s := &stress{options: o, c: w, out: out, me: w.Rank(), die: die, mean: 100 * time.Microsecond, world: w.Size()}
	for r := range w.Size() {
		s.members = append(s.members, r)
	}
	return s
}

func (s *stress) run(ctx context.Context) error {
	// The last two results are compared by two more agreements.
	for s.done < s.agreements+lag {
		s.scheduleDeath()
		start := time.Now()
		got, err := s.c.Agree(ctx, s.contribution(s.me))
		s.mean += (time.Since(start) - s.mean) / 16
		if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
			return err
		}
		if err := s.settle(ctx, got, err != nil); err != nil {
			return err
		}
	}
	if s.c.Rank() == 0 {
		fmt.Fprintf(s.out, "agree: agreements=%d failures=%d shrinks=%d violations=0 ranks=%d seed=%d mean=%v\n",
			s.done, s.world-s.c.Size(), s.shrinks, s.world, s.seed, s.mean)
	}
	return nil
}

// settle checks the result of an agreement and shrinks if it reported a failure.
func (s *stress) settle(ctx context.Context, got uint64, failed bool) error {
	before := s.members
	if failed {
		if err := s.shrink(ctx); err != nil {
			return err
		}
	}
	flags := func(rank int) uint64 { return randomFlag(s.seed, s.done, rank, s.world) }
	err := checkFlag(got, failed, before, s.members, flags)
	if err == nil {
		err = s.history.check(got)
	}
	if err != nil {
		return trial.Broken("agreement %d: %v", s.done, err)
	}
	s.history.add(got, failed, nil)
	if failed {
		s.history.add(0, false, s.members)
	}
	s.done++
	return nil
}

// shrink continues without the dead.
func (s *stress) shrink(ctx context.Context) error {
	old := s.c
	c, err := old.Shrink(ctx)
	if err != nil {
		return err
	}
	s.c, s.members = c, slices.Clone(c.Group().Processes())
	s.shrinks++
	if s.shrinks > 1 {
		return old.Free() // the first one is the world, which belongs to Main
	}
	return nil
}

func (s *stress) contribution(rank int) uint64 {
	return randomFlag(s.seed, s.done, rank, s.world) | s.history.stamp()
}

// scheduleDeath chooses the next victims. All ranks know the victims, but not the time of the
// death: it is during the next few agreements.
func (s *stress) scheduleDeath() {
	if s.killEvery == 0 || s.done == 0 || s.done%s.killEvery != 0 {
		return
	}
	rng := rand.New(rand.NewPCG(s.seed, uint64(s.done)))
	// A rank that was chosen before may still be alive, and counts as dead.
	left := slices.DeleteFunc(slices.Clone(s.members), func(r int) bool { return slices.Contains(s.doomed, r) })
	victims := min(1+rng.IntN(2), len(left)-s.leave)
	for i, at := range rng.Perm(len(left)) {
		if i >= victims {
			return
		}
		s.doomed = append(s.doomed, left[at])
		if left[at] == s.me {
			go s.dieWithin(4 * s.mean)
		}
	}
}

// dieWithin does not sleep: a timer would kill the process only when it is idle, in the middle of a
// wait.
func (s *stress) dieWithin(d time.Duration) {
	d = time.Duration(rand.Int64N(int64(d) + 1))
	for start := time.Now(); time.Since(start) < d; {
	}
	s.die()
}
