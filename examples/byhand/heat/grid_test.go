package main

import (
	"math"
	"testing"
)

// dumb is the whole plate, computed without blocks, ghost rows or a message.
func dumb(o options) (steps int, residual float64, cells [][]float64) {
	plate := func() [][]float64 {
		p := make([][]float64, o.ny+2)
		for y := range p {
			p[y] = make([]float64, o.nx+2)
		}
		for x := range p[0] {
			p[0][x] = 1
		}
		return p
	}
	now, then := plate(), plate()
	residual = math.Inf(1)
	for steps < o.steps && residual >= o.tol {
		now, then = then, now
		residual = 0
		for y := 1; y <= o.ny; y++ {
			for x := 1; x <= o.nx; x++ {
				now[y][x] = 0.25 * (then[y-1][x] + then[y+1][x] + then[y][x-1] + then[y][x+1])
				residual = math.Max(residual, math.Abs(now[y][x]-then[y][x]))
			}
		}
		steps++
	}
	return steps, residual, now[1 : o.ny+1]
}

// dumbSum is the checksum of a plate in the words of FNV's definition.
func dumbSum(cells [][]float64) uint64 {
	h := uint64(14695981039346656037)
	for _, row := range cells {
		for _, v := range row[1 : len(row)-1] {
			for bits, i := math.Float64bits(v), 0; i < 8; i++ {
				h = (h ^ bits>>(8*i)&0xff) * 1099511628211
			}
		}
	}
	return h
}

func TestBlocksCoverThePlate(t *testing.T) {
	for ny := 1; ny < 40; ny++ {
		for n := 1; n <= ny; n++ {
			next := 0
			for r := range n {
				b := block(ny, n, r)
				if b.lo != next || b.rows() < 1 || b.rows() > ny/n+1 {
					t.Fatalf("block(%d, %d, %d) = %v after row %d", ny, n, r, b, next)
				}
				next = b.hi
			}
			if next != ny {
				t.Fatalf("%d rows on %d ranks: the last block ends at %d", ny, n, next)
			}
		}
	}
}

// The cut of the plate must not change a bit of the result.
func TestSweepIsTheSameOnAnyCut(t *testing.T) {
	o := options{nx: 11, ny: 13, steps: 40}
	_, wantResidual, plate := dumb(o)
	want := dumbSum(plate)
	for n := 1; n <= o.ny; n++ {
		var blocks []*grid
		for r := range n {
			blocks = append(blocks, newGrid(o.nx, o.ny, block(o.ny, n, r)))
		}
		residual := 0.0
		for range o.steps {
			for r := 1; r < n; r++ {
				above, below := blocks[r-1], blocks[r]
				copy(above.row(above.hi), below.row(below.lo))
				copy(below.row(below.lo-1), above.row(above.hi-1))
			}
			residual = 0
			for _, b := range blocks {
				residual = max(residual, b.sweep())
			}
		}
		sum := newChecksum(o.nx + 2)
		for _, b := range blocks {
			sum.add(b.inner())
		}
		if got := sum.sum.Sum64(); got != want || residual != wantResidual {
			t.Errorf("%d blocks: checksum %x residual %x, want %x %x", n, got, residual, want, wantResidual)
		}
	}
}

func TestWrongOptions(t *testing.T) {
	good := options{nx: 1, ny: 1, every: 1}
	if msg := good.wrong(nil); msg != "" {
		t.Errorf("good options refused: %s", msg)
	}
	for name, spoil := range map[string]func(*options){
		"nx":    func(o *options) { o.nx = 0 },
		"ny":    func(o *options) { o.ny = -1 },
		"steps": func(o *options) { o.steps = -1 },
		"tol":   func(o *options) { o.tol = math.NaN() },
		"every": func(o *options) { o.every = 0 },
		"print": func(o *options) { o.print = -1 },
	} {
		o := good
		spoil(&o)
		if o.wrong(nil) == "" {
			t.Errorf("wrong -%s accepted", name)
		}
	}
	if good.wrong([]string{"more"}) == "" {
		t.Error("a stray argument accepted")
	}
}
