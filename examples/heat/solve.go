package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/recovery"
)

// A solver is one rank's part of the computation, in one attempt.
type solver struct {
	options
	c    *comm.Comm
	out  io.Writer
	grid *grid
	done result
}

// result is the same at all ranks.
type result struct {
	Steps    int
	Residual float64 // largest change of a cell in the last step
}

// solve runs the computation. It is called again after each repair: then Protect gives it the
// rows of the last step that was committed, and Steps goes on after that.
func (s *solver) solve(ctx context.Context, w *recovery.World) error {
	s.c = w.Comm()
	lo, hi := w.Block(s.ny)
	s.grid = newGrid(s.nx, s.ny, span{lo, hi})
	s.done = result{Residual: math.Inf(1)}
	if _, err := w.Protect(ctx, recovery.Slice("u", &s.grid.now), recovery.Value("done", &s.done)); err != nil {
		return err
	}
	s.grid.edges()
	for range w.Steps(ctx, s.steps) {
		if s.done.Residual < s.tol {
			break
		}
		if err := s.oneStep(ctx); err != nil {
			return err
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	return s.report(ctx)
}

func (s *solver) oneStep(ctx context.Context) error {
	if err := s.exchangeHalos(ctx); err != nil {
		return err
	}
	residual := []float64{s.grid.sweep()}
	if err := collectives.Allreduce(ctx, s.c, residual, residual, collectives.Max); err != nil {
		return err
	}
	s.done = result{s.done.Steps + 1, residual[0]}
	if s.print > 0 && s.done.Steps%s.print == 0 && s.c.Rank() == 0 {
		fmt.Fprintf(s.out, "step %d residual %.3e\n", s.done.Steps, s.done.Residual)
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

// report prints the result, at least once: if a rank dies before all have come to the end of
// the body, it is called again at all.
func (s *solver) report(ctx context.Context) error {
	s.c.Mark("gather", s.done.Steps)
	if s.c.Rank() > 0 {
		return comm.Send(ctx, s.c.To(0), s.grid.inner())
	}
	sum, err := s.sumBlocks(ctx)
	if err != nil {
		return err
	}
	s.c.Mark("report", s.done.Steps)
	fmt.Fprintf(s.out, "result: steps=%d residual=%x checksum=%016x\n", s.done.Steps, s.done.Residual, sum)
	return nil
}

// sumBlocks computes the checksum of the field, block by block at rank 0, so that no rank needs
// room for the whole plate.
func (s *solver) sumBlocks(ctx context.Context) (uint64, error) {
	sum := newChecksum(s.grid.width)
	sum.add(s.grid.inner())
	for r := 1; r < s.c.Size(); r++ {
		lo, hi := r*s.ny/s.c.Size(), (r+1)*s.ny/s.c.Size()
		rows := make([]float64, (hi-lo)*s.grid.width)
		if _, err := comm.Recv(ctx, s.c.From(r), rows); err != nil {
			return 0, err
		}
		sum.add(rows)
	}
	return sum.sum.Sum64(), nil
}
