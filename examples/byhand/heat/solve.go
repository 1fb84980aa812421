package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/examples/plate"
)

// Options describe the problem and its copies.
type options struct {
	plate.Options
	every int // steps between two copies
}

// A solver is one rank's part of the computation.
type solver struct {
	options
	world *comm.Comm // all ranks, dead or not
	c     *comm.Comm // the ranks that are left
	out   io.Writer
	mark  func(c *comm.Comm, name string, n int) // (*comm.Comm).Mark; tests kill ranks here

	stage    stage // see recovery.go
	grid     *plate.Grid
	step     int     // steps done
	residual float64 // largest change of a cell in the last step
	checksum uint64  // known from stage reporting on
	printed  bool    // this rank has printed the result

	have, next copies // the copy to go back to; the one being made
	outage     outage // the failure being repaired, if any
}

func newSolver(w *comm.Comm, o options, out io.Writer) *solver {
	s := &solver{options: o, world: w, c: w, out: out, mark: (*comm.Comm).Mark, stage: computing, residual: math.Inf(1)}
	s.grid = plate.New(o.NX, o.NY, plate.Block(o.NY, w.Size(), w.Rank()))
	return s
}

// done reports whether the computation has reached its end: the same at every rank, since step and
// residual are.
func (s *solver) done() bool { return s.step >= s.Steps || s.residual < s.Tol }

// compute does the steps up to the next copy.
func (s *solver) compute(ctx context.Context) error {
	for end := s.step - s.step%s.every + s.every; s.step < end && !s.done(); {
		if err := s.oneStep(ctx); err != nil {
			return err
		}
	}
	return s.copyToBuddy(ctx)
}

func (s *solver) oneStep(ctx context.Context) error {
	s.mark(s.c, "step", s.step+1)
	if err := s.grid.Exchange(ctx, s.c); err != nil {
		return err
	}
	residual := []float64{s.grid.Sweep()}
	if err := collectives.Allreduce(ctx, s.c, residual, residual, collectives.Max); err != nil {
		return err
	}
	s.step, s.residual = s.step+1, residual[0]
	if s.Print > 0 && s.step%s.Print == 0 && s.c.Rank() == 0 {
		fmt.Fprintf(s.out, "step %d residual %.3e\n", s.step, s.residual)
	}
	return nil
}

// gather computes the checksum of the field. Every rank receives the checksum: if rank 0 dies
// before it has printed the result, another rank can.
func (s *solver) gather(ctx context.Context) error {
	s.mark(s.c, "gather", s.step)
	sum, err := s.grid.SumBlocks(ctx, s.c, s.NY)
	if err != nil {
		return err
	}
	result := []uint64{sum}
	err = collectives.Bcast(ctx, s.c, 0, result)
	s.checksum = result[0]
	return err
}

// report prints the result, once. If rank 0 dies, the next rank 0 cannot know whether the line was
// out, and prints it: two lines are better than none.
func (s *solver) report() {
	s.mark(s.c, "report", s.step)
	if s.c.Rank() != 0 || s.printed {
		return
	}
	s.printed = true
	fmt.Fprintf(s.out, "result: steps=%d residual=%x checksum=%016x\n", s.step, s.residual, s.checksum)
}
