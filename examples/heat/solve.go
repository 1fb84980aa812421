package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/examples/plate"
	"github.com/goulfm/goulfm/recovery"
)

// A solver is one rank's part of the computation, in one attempt.
type solver struct {
	options
	c    *comm.Comm
	out  io.Writer
	grid *plate.Grid
	rows []float64 // of the grid: protected, in a world of any size
	done result
}

// result is the same at all ranks.
type result struct {
	Steps    int
	Residual float64 // largest change of a cell in the last step
}

// solve runs the computation. It is called again after each repair. Then Protect restores the rows
// of the last committed step, and Steps continues after that.
func (s *solver) solve(ctx context.Context, w *recovery.World) error {
	s.c = w.Comm()
	lo, hi := w.Block(s.NY)
	s.grid = plate.New(s.NX, s.NY, plate.Span{Lo: lo, Hi: hi})
	s.rows = s.grid.Inner()
	s.done = result{Residual: math.Inf(1)}
	u := recovery.Slice("u", &s.rows, recovery.Rows(s.NY, s.grid.Width))
	if _, err := w.Protect(ctx, u, recovery.Value("done", &s.done, recovery.Same())); err != nil {
		return err
	}
	s.grid.Edges()
	for range w.Steps(ctx, s.Steps) {
		if s.done.Residual < s.Tol {
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
	if err := s.grid.Exchange(ctx, s.c); err != nil {
		return err
	}
	residual := []float64{s.grid.Sweep()}
	s.rows = s.grid.Inner()
	if err := collectives.Allreduce(ctx, s.c, residual, residual, collectives.Max); err != nil {
		return err
	}
	s.done = result{s.done.Steps + 1, residual[0]}
	if s.Print > 0 && s.done.Steps%s.Print == 0 && s.c.Rank() == 0 {
		fmt.Fprintf(s.out, "step %d residual %.3e\n", s.done.Steps, s.done.Residual)
	}
	return nil
}

// report prints the result, at least once: if a rank dies before all have reached the end of the
// body, the body is called again at all ranks.
func (s *solver) report(ctx context.Context) error {
	s.c.Mark("gather", s.done.Steps)
	sum, err := s.grid.SumBlocks(ctx, s.c, s.NY)
	if err != nil || s.c.Rank() > 0 {
		return err
	}
	s.c.Mark("report", s.done.Steps)
	fmt.Fprintf(s.out, "result: steps=%d residual=%x checksum=%016x\n", s.done.Steps, s.done.Residual, sum)
	return nil
}
