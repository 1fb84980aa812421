// Package plate has the numerics of the heat examples: the temperature of a plate, of which each
// rank has a block of rows, by Jacobi's method. The programs that use the package differ in their
// reaction to deaths, and print the same result, bit for bit.
package plate

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"math"

	"github.com/goulfm/goulfm/comm"
)

// A Span is a range of rows of the whole plate: Lo is in it, Hi is not.
type Span struct{ Lo, Hi int }

// Rows returns the number of rows.
func (s Span) Rows() int { return s.Hi - s.Lo }

// Contains reports whether row y is in the span.
func (s Span) Contains(y int) bool { return s.Lo <= y && y < s.Hi }

// Block is the span of rank r when ny rows are divided among n ranks.
func Block(ny, n, r int) Span {
	lo, hi := comm.Block(ny, n, r)
	return Span{lo, hi}
}

// A Grid is the part of the plate that one rank computes, with a border of one cell around it. The
// border columns, and the border rows where the plate ends, never change: the upper edge is hot,
// the others are cold. Elsewhere the border rows hold the last values of the neighbours.
type Grid struct {
	Span
	Width     int       // cells in a row, border columns included
	Now, then []float64 // Rows()+2 rows each: this step and the one before
}

// New returns block s of a plate of ny rows of nx cells, before the first step.
func New(nx, ny int, s Span) *Grid {
	g := &Grid{Span: s, Width: nx + 2}
	g.Now = make([]float64, (s.Rows()+2)*g.Width)
	if s.Lo == 0 {
		hot := g.Row(-1)
		for x := range hot {
			hot[x] = 1
		}
	}
	g.then = append([]float64(nil), g.Now...)
	return g
}

// Edges copies Now to the step before. It is called after Now was set from outside, because Sweep
// writes only the inside and both steps need the edges.
func (g *Grid) Edges() { g.then = append(g.then[:0], g.Now...) }

// Row returns row y of the plate; y may be a border row.
func (g *Grid) Row(y int) []float64 { return g.Slab(Span{y, y + 1}) }

// Slab returns the memory of the rows in s, one after the other.
func (g *Grid) Slab(s Span) []float64 {
	return g.Now[(s.Lo-g.Lo+1)*g.Width : (s.Hi-g.Lo+1)*g.Width]
}

// Inner returns the memory of the rows that this rank owns.
func (g *Grid) Inner() []float64 { return g.Slab(g.Span) }

// Sweep does one Jacobi step: each cell becomes the mean of its four neighbours. Sweep returns the
// largest change of a cell.
//
// Each cell is computed from the same four numbers in the same order on any division of the plate,
// and a maximum does not depend on the order of its terms. So the field and the residual are the
// same bits on 8 ranks and on 5.
func (g *Grid) Sweep() (residual float64) {
	g.Now, g.then = g.then, g.Now
	w := g.Width
	for y := 1; y <= g.Rows(); y++ {
		up, mid, down := g.then[(y-1)*w:y*w], g.then[y*w:(y+1)*w], g.then[(y+1)*w:(y+2)*w]
		out := g.Now[y*w : (y+1)*w]
		for x := 1; x < w-1; x++ {
			v := 0.25 * (up[x] + down[x] + mid[x-1] + mid[x+1])
			residual = max(residual, math.Abs(v-mid[x]))
			out[x] = v
		}
	}
	return residual
}

// A checksum is FNV-1a over the bits of the cells, row by row from the top.
type checksum struct {
	width int
	sum   hash.Hash64
	bytes []byte
}

func newChecksum(width int) *checksum { return &checksum{width: width, sum: fnv.New64a()} }

// add adds whole rows, without their border columns.
func (c *checksum) add(cells []float64) {
	for len(cells) > 0 {
		c.bytes = c.bytes[:0]
		for _, v := range cells[1 : c.width-1] {
			c.bytes = binary.LittleEndian.AppendUint64(c.bytes, math.Float64bits(v))
		}
		c.sum.Write(c.bytes)
		cells = cells[c.width:]
	}
}
