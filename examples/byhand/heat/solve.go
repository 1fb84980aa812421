package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// Options say what to compute.
type options struct {
	nx, ny int     // cells across, rows
	steps  int     // stop after so many steps,
	tol    float64 // or when no cell changes by this much
	every  int     // steps between two copies
	print  int     // steps between two lines of output; 0: none
	pids   bool    // whether each rank says how to kill it
}

// A solver is one rank's part of the computation.
type solver struct {
	options
	world *comm.Comm // all ranks, dead or not
	c     *comm.Comm // the ranks that are left
	out   io.Writer
	mark  func(c *comm.Comm, name string, n int) // (*comm.Comm).Mark; tests kill ranks here

	stage    stage // see recovery.go
	grid     *grid
	step     int     // steps done
	residual float64 // largest change of a cell in the last step
	checksum uint64  // known from stage reporting on
	printed  bool    // this rank has printed the result

	have, next copies // the copy to go back to; the one being made
	outage     outage // the failure being repaired, if any
}

func newSolver(w *comm.Comm, o options, out io.Writer) *solver {
	s := &solver{options: o, world: w, c: w, out: out, mark: (*comm.Comm).Mark, stage: computing, residual: math.Inf(1)}
	s.grid = newGrid(o.nx, o.ny, block(o.ny, w.Size(), w.Rank()))
	return s
}

// done tells whether the computation is at its end: the same at every rank,
// since step and residual are.
func (s *solver) done() bool { return s.step >= s.steps || s.residual < s.tol }

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
	if err := s.exchangeHalos(ctx); err != nil {
		return err
	}
	residual := []float64{s.grid.sweep()}
	if err := collectives.Allreduce(ctx, s.c, residual, residual, collectives.Max); err != nil {
		return err
	}
	s.step, s.residual = s.step+1, residual[0]
	if s.print > 0 && s.step%s.print == 0 && s.c.Rank() == 0 {
		fmt.Fprintf(s.out, "step %d residual %.3e\n", s.step, s.residual)
	}
	return nil
}

// exchangeHalos gives the neighbours our outermost rows and takes theirs.
// At the ends of the plate the neighbour is comm.None: nothing is sent and
// nothing received, and the border row keeps the temperature of the edge.
func (s *solver) exchangeHalos(ctx context.Context) error {
	g, above, below := s.grid, s.c.Rank()-1, s.c.Rank()+1
	if above < 0 {
		above = comm.None
	}
	if below == s.c.Size() {
		below = comm.None
	}
	if _, err := comm.SendRecv(ctx, s.c.To(above), g.row(g.lo), s.c.From(below), g.row(g.hi)); err != nil {
		return err
	}
	_, err := comm.SendRecv(ctx, s.c.To(below), g.row(g.hi-1), s.c.From(above), g.row(g.lo-1))
	return err
}

// gather computes the checksum of the field, block by block at rank 0, so that
// no rank needs room for the whole plate. Every rank learns it: should rank 0
// die before it has printed the result, another can.
func (s *solver) gather(ctx context.Context) error {
	s.mark(s.c, "gather", s.step)
	result := make([]uint64, 1)
	if s.c.Rank() == 0 {
		sum, err := s.sumBlocks(ctx)
		if err != nil {
			return err
		}
		result[0] = sum
	} else if err := comm.Send(ctx, s.c.To(0), s.grid.inner()); err != nil {
		return err
	}
	err := collectives.Bcast(ctx, s.c, 0, result)
	s.checksum = result[0]
	return err
}

func (s *solver) sumBlocks(ctx context.Context) (uint64, error) {
	sum := newChecksum(s.grid.width)
	sum.add(s.grid.inner())
	for r := 1; r < s.c.Size(); r++ {
		rows := make([]float64, block(s.ny, s.c.Size(), r).rows()*s.grid.width)
		if _, err := comm.Recv(ctx, s.c.From(r), rows); err != nil {
			return 0, err
		}
		sum.add(rows)
	}
	return sum.sum.Sum64(), nil
}

// report prints the result, once. If rank 0 dies, the next rank 0 cannot know
// whether the line was out: rather the same line twice than none.
func (s *solver) report() {
	s.mark(s.c, "report", s.step)
	if s.c.Rank() != 0 || s.printed {
		return
	}
	s.printed = true
	fmt.Fprintf(s.out, "result: steps=%d residual=%x checksum=%016x\n", s.step, s.residual, s.checksum)
}
