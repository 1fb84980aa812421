package main

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"math"
)

// A span is a range of rows of the whole plate: lo is in it, hi is not.
type span struct{ lo, hi int }

func (s span) rows() int           { return s.hi - s.lo }
func (s span) contains(y int) bool { return s.lo <= y && y < s.hi }

// block is the span of rank r when ny rows are dealt out to n ranks.
func block(ny, n, r int) span { return span{r * ny / n, (r + 1) * ny / n} }

// A grid is the part of the plate that one rank computes, with a border of one
// cell around it. The border columns, and the border rows where the plate ends,
// never change: the upper edge is hot, the others are cold. Elsewhere the
// border rows hold what the neighbours computed last.
type grid struct {
	span
	width     int       // cells in a row, border columns included
	now, then []float64 // rows()+2 rows each: this step and the one before
}

// newGrid is block s of a plate of ny rows of nx cells, before the first step.
func newGrid(nx, ny int, s span) *grid {
	g := &grid{span: s, width: nx + 2}
	g.now = make([]float64, (s.rows()+2)*g.width)
	if s.lo == 0 {
		hot := g.row(-1)
		for x := range hot {
			hot[x] = 1
		}
	}
	g.then = append([]float64(nil), g.now...)
	return g
}

// row is row y of the plate; y may be a border row.
func (g *grid) row(y int) []float64 { return g.slab(span{y, y + 1}) }

// slab is the memory of the rows in s, one after the other.
func (g *grid) slab(s span) []float64 {
	return g.now[(s.lo-g.lo+1)*g.width : (s.hi-g.lo+1)*g.width]
}

// inner is the memory of the rows that this rank owns.
func (g *grid) inner() []float64 { return g.slab(g.span) }

// sweep does one Jacobi step: each cell becomes the mean of its four
// neighbours. It returns the largest change of a cell.
//
// Each cell is computed from the same four numbers in the same order wherever
// the plate is cut, and a maximum does not depend on the order in which it is
// taken. So the field and the residual are the same bits on 8 ranks and on 5.
func (g *grid) sweep() (residual float64) {
	g.now, g.then = g.then, g.now
	w := g.width
	for y := 1; y <= g.rows(); y++ {
		up, mid, down := g.then[(y-1)*w:y*w], g.then[y*w:(y+1)*w], g.then[(y+1)*w:(y+2)*w]
		out := g.now[y*w : (y+1)*w]
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

// add takes in whole rows; their border columns do not count.
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
