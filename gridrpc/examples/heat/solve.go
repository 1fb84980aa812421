package main

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/examples/plate"
	"github.com/goulfm/goulfm/gridrpc/parallel/rank"
	"github.com/goulfm/goulfm/recovery"
)

// solver is one rank's part of the plate, in one attempt of the job.
type solver struct {
	Request
	c    *comm.Comm
	grid *plate.Grid
	rows []float64 // of the grid, protected
	done int       // steps
	from int
}

// solve continues from the rows of the last version, in the memory of the job or in files that
// another server has left.
func (s *solver) solve(ctx context.Context, w *recovery.World) error {
	s.c = w.Comm()
	lo, hi := w.Block(s.NY)
	s.grid = plate.New(s.NX, s.NY, plate.Span{Lo: lo, Hi: hi})
	s.rows = s.grid.Inner()
	u := recovery.Slice("u", &s.rows, recovery.Rows(s.NY, s.grid.Width))
	if _, err := w.Protect(ctx, u, recovery.Value("done", &s.done, recovery.Same())); err != nil {
		return err
	}
	s.grid.Edges()
	s.from = s.done
	for range w.Steps(ctx, s.Steps) {
		if err := s.grid.Exchange(ctx, s.c); err != nil {
			return err
		}
		s.grid.Sweep()
		s.rows = s.grid.Inner()
		s.done++
		s.tell()
	}
	if err := w.Err(); err != nil {
		return err
	}
	sum, err := s.grid.SumBlocks(ctx, s.c, s.NY)
	if err != nil || s.c.Rank() > 0 {
		return err
	}
	return rank.Return(Reply{Checksum: fmt.Sprintf("%016x", sum), From: s.from, Ranks: s.c.Size()})
}

// tellEach is the number of steps between two reports.
const tellEach = 100

// tell reports progress to the caller. The job does not depend on it.
func (s *solver) tell() {
	if s.c.Rank() == 0 && s.done%tellEach == 0 {
		_ = rank.Progress(float64(s.done), float64(s.Steps), "steps")
	}
}
