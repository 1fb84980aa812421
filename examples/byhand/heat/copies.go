package main

import (
	"context"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/examples/plate"
)

// Copies are the data that a rank keeps of one step: its own block and its left neighbour's. So
// each block is held twice, and the loss of any one rank, or of several that are not neighbours,
// loses no row.
//
// A solver has two of them. The new one is filled while the old one stays valid, and replaces it
// only when all ranks agree that it is complete everywhere: a death in the middle of the exchange
// finds the old one untouched.
type copies struct {
	step     int
	residual float64
	own      piece
	buddy    piece
}

// A piece is some rows as they were at the step of the copy.
type piece struct {
	plate.Span
	cells []float64
}

// resize makes room for the rows of s.
func (p *piece) resize(s plate.Span, width int) {
	p.Span = s
	if n := s.Rows() * width; n <= cap(p.cells) {
		p.cells = p.cells[:n]
	} else {
		p.cells = make([]float64, n)
	}
}

// slab returns the memory of the rows in s; one of the two pieces has all of them.
func (c *copies) slab(s plate.Span) []float64 {
	p := &c.own
	if !p.Contains(s.Lo) {
		p = &c.buddy
	}
	width := len(p.cells) / p.Rows()
	return p.cells[(s.Lo-p.Lo)*width : (s.Hi-p.Lo)*width]
}

// copyToBuddy fills s.next with this rank's block and that of its left neighbour, and sends this
// rank's block to the right neighbour. The copy counts when the stretch is agreed.
func (s *solver) copyToBuddy(ctx context.Context) error {
	s.mark(s.c, "copy", s.step)
	n, me := s.c.Size(), s.c.Rank()
	left, right := (me+n-1)%n, (me+1)%n

	s.next.step, s.next.residual = s.step, s.residual
	s.next.own.resize(s.grid.Span, s.grid.Width)
	copy(s.next.own.cells, s.grid.Inner())
	s.next.buddy.resize(plate.Block(s.NY, n, left), s.grid.Width)
	_, err := comm.SendRecv(ctx, s.c.To(right), s.next.own.cells, s.c.From(left), s.next.buddy.cells)
	return err
}

// A holding is the description of one rank's copies that the other ranks receive.
type holding struct {
	step       int
	residual   float64
	own, buddy plate.Span
}

// find returns the span of h that has row y, if the copy is of this step.
func (h *holding) find(step, y int) (plate.Span, bool) {
	switch {
	case h.step != step:
		return plate.Span{}, false
	case h.own.Contains(y):
		return h.own, true
	default:
		return h.buddy, h.buddy.Contains(y)
	}
}

// whoHoldsWhat returns the holding of each rank.
func (s *solver) whoHoldsWhat(ctx context.Context) ([]holding, error) {
	h := &s.have
	mine := []uint64{
		uint64(h.step), math.Float64bits(h.residual),
		uint64(h.own.Lo), uint64(h.own.Hi), uint64(h.buddy.Lo), uint64(h.buddy.Hi),
	}
	all := make([]uint64, len(mine)*s.c.Size())
	if err := collectives.Allgather(ctx, s.c, all, mine); err != nil {
		return nil, err
	}
	held := make([]holding, s.c.Size())
	for r := range held {
		v := all[r*len(mine):]
		held[r] = holding{
			step: int(v[0]), residual: math.Float64frombits(v[1]),
			own: plate.Span{Lo: int(v[2]), Hi: int(v[3])}, buddy: plate.Span{Lo: int(v[4]), Hi: int(v[5])},
		}
	}
	return held, nil
}

// A move brings rows of a copy from the rank that holds them to the rank that
// will compute them.
type move struct {
	from, to int
	rows     plate.Span
}

// A plan is the step to continue from, and the moves that bring each row to its new owner.
type plan struct {
	step     int
	residual float64
	moves    []move
	lost     bool // there were copies, but none with every row left
}

// choose finds the newest step of which every row is left at some rank. If there is none, the plate
// is in its initial state, which needs no move. Every rank computes the same plan from the same
// table.
func choose(held []holding, ny int) plan {
	start := plan{residual: math.Inf(1)}
	for step := newest(held, math.MaxInt); step > 0; step = newest(held, step) {
		if p, ok := collect(held, ny, step); ok {
			return p
		}
		start.lost = true
	}
	return start
}

// newest returns the latest step before the given one of which any rank has a copy; 0 if there is
// none.
func newest(held []holding, before int) int {
	step := 0
	for _, h := range held {
		if h.step < before {
			step = max(step, h.step)
		}
	}
	return step
}

// collect plans the moves for one step; false if a row is missing.
func collect(held []holding, ny, step int) (plan, bool) {
	p := plan{step: step}
	for to := range held {
		for want := plate.Block(ny, len(held), to); want.Lo < want.Hi; {
			from, has := holder(held, step, want.Lo, to)
			if from < 0 {
				return plan{}, false
			}
			p.residual = held[from].residual
			rows := plate.Span{Lo: want.Lo, Hi: min(want.Hi, has.Hi)}
			p.moves = append(p.moves, move{from, to, rows})
			want.Lo = rows.Hi
		}
	}
	return p, true
}

// holder returns the rank that sends row y to rank to, and the span that the sender has. The sender
// is rank to itself if it has the row, otherwise the lowest rank that does; -1 if the row is lost.
func holder(held []holding, step, y, to int) (int, plate.Span) {
	if has, ok := held[to].find(step, y); ok {
		return to, has
	}
	for r := range held {
		if has, ok := held[r].find(step, y); ok {
			return r, has
		}
	}
	return -1, plate.Span{}
}
