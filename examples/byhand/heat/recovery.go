package main

import (
	"context"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/examples/plate"
)

// A stage is the next work of the ranks. All ranks are in the same stage: it changes only by an
// agreement.
type stage int

const (
	restoring stage = iota // find the rows of the last copy and divide them again
	computing              // some steps, then a copy
	gathering              // the checksum
	reporting              // the result line
	finished
)

// solve runs the computation to its end, even if ranks die on the way.
//
// The work is cut into stretches: some steps and a copy, for example. Inside a stretch ranks may
// see different things: one gets an error in step 41 while another is in step 42, a third has sent
// its copy already, a fourth notices nothing at all. So each stretch, good or bad, ends in the same
// agreement, and no result of a stretch counts before the agreement. The outcome of an agreement is
// the same at every survivor: either all continue with the next stage, or all repair.
//
// There must be only one Agree, at one place. If the ranks with an error called Shrink at once,
// they would wait there for those that wait in Agree at the end of the stretch.
func (s *solver) solve(ctx context.Context) error {
	for s.stage != finished {
		next, err := s.stretch(ctx)
		if fatal(err) {
			return err
		}
		good := uint64(1)
		if err != nil {
			good = 0
			// Another rank may be waiting for a message from this rank that will not come.
			if err := s.c.Revoke(); err != nil {
				return err
			}
		}
		good, err = s.c.Agree(ctx, good)
		if fatal(err) {
			return err
		}
		// The flag holds even if a death is reported with it: every survivor has
		// done its stretch.
		if good == 1 {
			s.commit(next)
		}
		if good == 1 && err == nil {
			s.repaired()
			continue
		}
		if err := s.repair(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fatal reports whether an error ends the run (a cancelled context, a mistake of this program). A
// smaller communicator cures the other errors.
func fatal(err error) bool { return err != nil && !comm.Recoverable(err) }

// stretch does the work of the present stage and returns the stage that follows if all agree that
// the stretch is done.
func (s *solver) stretch(ctx context.Context) (next stage, err error) {
	switch s.stage {
	case restoring:
		err = s.restore(ctx)
	case computing:
		err = s.compute(ctx)
	case gathering:
		return reporting, s.gather(ctx)
	case reporting:
		s.report()
		return finished, nil
	}
	if s.done() {
		return gathering, err
	}
	return computing, err
}

// commit makes the agreed stretch count.
func (s *solver) commit(next stage) {
	if s.stage == restoring || s.stage == computing {
		s.have, s.next = s.next, s.have
	}
	s.stage = next
}

// repair replaces the communicator that lost a member by one without that member. All members call
// it together. Shrink does not fail because of a failure: a later death is found on the new
// communicator, in the next stretch.
func (s *solver) repair(ctx context.Context) error {
	s.outage.begin(s.c)
	smaller, err := s.c.Shrink(ctx)
	if err != nil {
		return err
	}
	if s.c != s.world { // the world belongs to comm.Main
		if err := s.c.Free(); err != nil {
			return err
		}
	}
	s.c = smaller
	switch s.stage {
	case computing, gathering:
		s.stage = restoring // rows died with their rank
	case finished:
		s.stage = reporting // rank 0 may have died before it printed
	}
	return nil
}

// restore brings back the last copy, divided among the ranks that are left, and makes a new copy of
// it at once: until then the rows whose owner or keeper died exist only once. It changes neither
// s.have nor anything that another try of it would need, so a death in the middle costs no more
// than the time.
func (s *solver) restore(ctx context.Context) error {
	s.outage.tries++
	s.mark(s.c, "repair", s.outage.number)
	held, err := s.whoHoldsWhat(ctx)
	if err != nil {
		return err
	}
	p := choose(held, s.NY)
	s.outage.plan = p
	s.step, s.residual = p.step, p.residual
	s.grid = plate.New(s.NX, s.NY, plate.Block(s.NY, s.c.Size(), s.c.Rank()))
	if err := s.deal(ctx, p.moves); err != nil {
		return err
	}
	return s.copyToBuddy(ctx)
}

// deal carries out the moves, each rank its own, all in the same order. Blocking calls in one
// common order cannot wait in a circle: both ends of the first pending move are executing that
// move.
func (s *solver) deal(ctx context.Context, moves []move) error {
	me := s.c.Rank()
	for _, m := range moves {
		var err error
		switch {
		case m.from == me && m.to == me:
			copy(s.grid.Slab(m.rows), s.have.slab(m.rows))
		case m.from == me:
			err = comm.Send(ctx, s.c.To(m.to), s.have.slab(m.rows))
		case m.to == me:
			_, err = comm.Recv(ctx, s.c.From(m.from), s.grid.Slab(m.rows))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An outage is a failure from its discovery until all ranks agree that it is repaired. Further
// deaths on the way belong to it.
type outage struct {
	open   bool
	number int        // its number in the run, from 1
	before comm.Group // the members before the failure
	since  time.Time
	tries  int // of restore
	plan   plan
}

func (o *outage) begin(c *comm.Comm) {
	if !o.open {
		*o = outage{open: true, number: o.number + 1, before: c.Group(), since: time.Now()}
	}
}

// repaired ends the outage, if there is one, and prints its cost.
func (s *solver) repaired() {
	o := &s.outage
	if !o.open {
		return
	}
	o.open = false
	if s.c.Rank() != 0 {
		return
	}
	lost := o.before.Difference(s.c.Group())
	fmt.Fprintf(s.out, "repair: %d -> %d ranks, lost %v, %s, %.1f ms\n",
		o.before.Size(), s.c.Size(), lost.Processes(), o.result(), float64(time.Since(o.since).Microseconds())/1000)
}

func (o *outage) result() string {
	var what string
	switch {
	case o.tries == 0:
		what = "nothing to restore"
	case o.plan.lost:
		what = "back to step 0 (a block and its copy are both lost)"
	case o.plan.step == 0:
		what = "back to step 0 (no copy yet)"
	default:
		what = fmt.Sprintf("back to step %d (copy)", o.plan.step)
	}
	if o.tries > 1 {
		what += fmt.Sprintf(", %d tries", o.tries)
	}
	return what
}
