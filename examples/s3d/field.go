package main

import "math"

// The equation of species s, whose amount is u[s]:
//
//	du[s]/dt = -wind . grad u[s] + spread * laplace u[s] + rate * (u[s-1] - u[s])
//
// in a periodic cube with sides of 2 pi. Nothing comes before the first species, and the last one
// does not react.
var wind = [3]float64{1, 0.5, -0.25}

const (
	spread = 0.05
	rate   = 0.4
)

// Weights of the differences of eighth order, by distance in cells.
var (
	slope = [halo + 1]float64{0, 4. / 5, -1. / 5, 4. / 105, -1. / 280}
	curve = [halo + 1]float64{-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560}
)

// halo is the number of cells of a neighbour that a difference needs.
const halo = 4

// A block is the cells of one rank. Its fields have no halo, so that only the necessary data is
// protected. The pad of a species has the halo.
type block struct {
	lo, n   [3]int     // first cell in the box, and number of cells
	h       [3]float64 // sides of a cell
	species int
}

func (b *block) cells() int { return b.n[0] * b.n[1] * b.n[2] }

// strides are the distances of neighbours in x, y and z in a padded field.
func (b *block) strides() [3]int {
	row := b.n[0] + 2*halo
	return [3]int{1, row, row * (b.n[1] + 2*halo)}
}

// padded is a field of one species with a halo around it.
func (b *block) padded() []float64 { return make([]float64, b.strides()[2]*(b.n[2]+2*halo)) }

// eachRow calls f for the rows in x of a range of cells of a padded field, where the block begins
// at 0: i is the index of the first one.
func (b *block) eachRow(lo, hi [3]int, f func(i int)) {
	s := b.strides()
	for z := lo[2]; z < hi[2]; z++ {
		for y := lo[1]; y < hi[1]; y++ {
			f((z+halo)*s[2] + (y+halo)*s[1] + lo[0] + halo)
		}
	}
}

// pack copies a range of cells of a padded field to buf; unpack copies it back.
func (b *block) pack(buf, pad []float64, lo, hi [3]int) {
	b.eachRow(lo, hi, func(i int) { buf = buf[copy(buf, pad[i:i+hi[0]-lo[0]]):] })
}

func (b *block) unpack(pad, buf []float64, lo, hi [3]int) {
	b.eachRow(lo, hi, func(i int) { buf = buf[copy(pad[i:i+hi[0]-lo[0]], buf):] })
}

// transport adds to rates the effect of wind and spread on the species in pad. Each cell is
// computed from the same numbers in the same order on any division of the box, so the bits do not
// depend on the division.
func (b *block) transport(rates, pad []float64) {
	s := b.strides()
	var w [3][2*halo + 1]float64 // weight of each cell along each direction
	for d := range w {
		for k := -halo; k <= halo; k++ {
			sign := float64(min(max(k, -1), 1))
			far := max(k, -k)
			w[d][k+halo] = spread*curve[far]/(b.h[d]*b.h[d]) - sign*wind[d]*slope[far]/b.h[d]
		}
	}
	out := 0
	b.eachRow([3]int{}, b.n, func(first int) {
		for i := first; i < first+b.n[0]; i++ {
			sum := 0.0
			for d := range w {
				near := i - halo*s[d]
				for k := range w[d] {
					sum += w[d][k] * pad[near+k*s[d]]
				}
			}
			rates[out] += sum
			out++
		}
	})
}

// react adds to rates the effect of the reactions; both have all species, one after the other.
func (b *block) react(rates, u []float64) {
	n := b.cells()
	for i := range (b.species - 1) * n {
		r := rate * u[i]
		rates[i] -= r
		rates[i+n] += r
	}
}

// exact is the solution: a wave that the wind moves and that fades, times the share of the species,
// which is that of a chain of decays.
func (b *block) exact(species, x, y, z int, t float64) float64 {
	wave := 1.0
	for d, i := range [3]int{x, y, z} {
		wave *= math.Sin(float64(b.lo[d]+i)*b.h[d] - wind[d]*t)
	}
	return (1 + 0.5*math.Exp(-3*spread*t)*wave) * share(species, b.species, t)
}

func share(species, all int, t float64) float64 {
	term, sum := math.Exp(-rate*t), 0.0
	for s := range species {
		sum += term
		term *= rate * t / float64(s+1)
	}
	if species == all-1 {
		return 1 - sum
	}
	return term
}

// stable is a time step with which errors do not grow: it keeps the fastest wave and the fastest
// decay of the grid inside the stability region of the Runge-Kutta method.
func (b *block) stable() float64 {
	fastest := rate
	for d, h := range b.h {
		fastest += 1.73*math.Abs(wind[d])/h + 6.5*spread/(h*h)
	}
	return 1.5 / fastest
}
