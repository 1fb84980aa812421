package soak

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A soak is one rank's part.
type soak struct {
	options
	world, c *comm.Comm
	out      io.Writer // of rank 0
	measure  func() sample
	start    time.Time

	agreements, shrinks, dups, splits int
}

func newSoak(w *comm.Comm, o options, out io.Writer, measure func() sample) *soak {
	if w.Rank() != 0 {
		out = io.Discard
	}
	return &soak{options: o, world: w, c: w, out: out, measure: measure}
}

// run does the rounds, warm-up first, and compares the last sample with the first.
func (s *soak) run(ctx context.Context) error {
	s.start = time.Now()
	first, err := s.row(ctx)
	if err != nil {
		return err
	}
	before, last := s.made(), first
	for range s.samples {
		if last, err = s.row(ctx); err != nil {
			return err
		}
	}
	made := s.made() - before
	fmt.Fprintf(s.out, "%9s %11s %9s%s  may grow by\n", "", "", "", limits(made))
	if bad := growth(first, last, made); bad != "" {
		return trial.Broken("%s", bad)
	}
	return s.free()
}

// row does the rounds between two rows of the table, and prints the second of them: the largest
// figures over the ranks. It returns the figures of this rank.
func (s *soak) row(ctx context.Context) (sample, error) {
	first := s.shrinks == 0
	for i := range s.rounds / s.samples {
		if err := s.round(ctx, i); err != nil {
			return sample{}, err
		}
	}
	mine, err := s.sample(ctx)
	if err != nil {
		return mine, err
	}
	var most sample
	if err := collectives.Allreduce(ctx, s.c, most[:], mine[:], collectives.Max); err != nil {
		return mine, err
	}
	if first {
		s.head()
	}
	fmt.Fprintf(s.out, "%9.1f %11d %9d%s\n", time.Since(s.start).Seconds(), s.agreements, s.shrinks, most)
	return mine, nil
}

func (s *soak) head() {
	fmt.Fprintf(s.out, "soak: %d ranks\n%9s %11s %9s", s.c.Size(), "seconds", "agreements", "shrinks")
	for _, q := range quantities {
		fmt.Fprintf(s.out, " %12s", q.name)
	}
	fmt.Fprintln(s.out)
}

// made is the number of communicators so far.
func (s *soak) made() int { return s.shrinks + s.dups + s.splits }

// perRound is the number of agreements in a round.
const perRound = 10

// round is ten agreements and the way to the next communicator.
func (s *soak) round(ctx context.Context, i int) error {
	for k := range perRound {
		if err := s.agree(ctx, k); err != nil {
			return err
		}
	}
	if i%5 == 0 {
		if err := s.others(ctx); err != nil {
			return err
		}
	}
	return s.shrink(ctx)
}

// agree makes an agreement of one of the three kinds.
func (s *soak) agree(ctx context.Context, k int) error {
	s.agreements++
	all := uint64(1)<<s.c.Size() - 1
	flag := ^(uint64(1) << s.c.Rank())
	var err error
	switch k {
	case 0:
		var dead comm.Group
		if dead, err = s.c.AgreeFailed(ctx); err == nil && dead.Size() > 0 {
			return trial.Broken("%v are agreed to be dead", dead)
		}
		return err
	case 1:
		_, err = s.c.Iagree(&flag).Wait(ctx)
	default:
		flag, err = s.c.Agree(ctx, flag)
	}
	if err == nil && flag != ^all {
		return trial.Broken("agreed on %x, want %x", flag, ^all)
	}
	return err
}

// others makes a copy and halves, uses them and frees them.
func (s *soak) others(ctx context.Context) error {
	d, err := s.c.Dup(ctx)
	if err != nil {
		return err
	}
	half, err := s.c.Split(ctx, s.c.Rank()%2, -s.c.Rank())
	if err != nil {
		return err
	}
	s.dups, s.splits = s.dups+1, s.splits+1
	for _, c := range []*comm.Comm{d, half} {
		if err := s.use(ctx, c); err != nil {
			return err
		}
		if err := c.Free(); err != nil {
			return err
		}
	}
	return nil
}

// use adds up a value on a communicator.
func (s *soak) use(ctx context.Context, c *comm.Comm) error {
	v := []int{1}
	if err := collectives.Allreduce(ctx, c, v, v, collectives.Sum); err != nil {
		return err
	}
	if v[0] != c.Size() {
		return trial.Broken("%d of %d have taken part in a reduction", v[0], c.Size())
	}
	return nil
}

// shrink moves to an equal communicator.
func (s *soak) shrink(ctx context.Context) error {
	next, err := s.c.Shrink(ctx)
	if err != nil {
		return err
	}
	if s.shrinks++; !next.Group().Equal(s.c.Group()) {
		return trial.Broken("shrink of %v gave %v, and nobody is dead", s.c.Group(), next.Group())
	}
	if err := s.free(); err != nil {
		return err
	}
	s.c = next
	return s.use(ctx, s.c)
}

// free frees the communicator, unless it is the world, which belongs to Main.
func (s *soak) free() error {
	if s.c == s.world {
		return nil
	}
	return s.c.Free()
}

// settling is the number of agreements after a Free until all ranks have closed the freed
// communicator: that happens in the background, while calls are made.
const settling = 100

// sample measures when all ranks are at rest.
func (s *soak) sample(ctx context.Context) (sample, error) {
	for range settling {
		if err := s.agree(ctx, 2); err != nil {
			return sample{}, err
		}
	}
	mine := s.measure()
	return mine, collectives.Barrier(ctx, s.c) // the barrier keeps the others from disturbing a measurement
}
