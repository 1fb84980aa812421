package main

import (
	"math"
	"math/rand/v2"
)

// A point is on one of two moons, which reach into each other.
type point struct {
	x, y float64
	moon float64 // 1 or -1
}

// makePoint is the same whoever makes it, and when.
func makePoint(i int) point {
	rng := rand.New(rand.NewPCG(2, uint64(i)))
	angle := math.Pi * rng.Float64()
	p := point{math.Cos(angle), math.Sin(angle), 1}
	if i%2 == 1 {
		p = point{1 - p.x, 0.5 - p.y, -1}
	}
	p.x += 0.1 * rng.NormFloat64()
	p.y += 0.1 * rng.NormFloat64()
	return p
}

// Weights are those of a network with one hidden layer: four for each unit (of x, of y, of 1, and
// of the unit in the output), and one of 1 in the output.
type weights []float64

func newWeights(hidden int) weights {
	rng := rand.New(rand.NewPCG(1, 1))
	w := make(weights, 4*hidden+1)
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	return w
}

// output is positive where the network takes p for one of the first moon. units are the values of
// the hidden ones.
func (w weights) output(units []float64, p point) float64 {
	sum := w[len(w)-1]
	for k := range units {
		of := w[4*k : 4*k+4]
		units[k] = math.Tanh(of[0]*p.x + of[1]*p.y + of[2])
		sum += of[3] * units[k]
	}
	return sum
}

// A tally is what is summed over points, in whole numbers of units, and so in any order: the
// gradient, after it the loss, and then how many points are taken for what they are.
type tally []int64

// unit is a billionth of a thousandth. Sums of ten million terms of size one do not overflow.
const unit = 1. / (1 << 40)

func (t tally) add(i int, v float64) { t[i] += int64(math.Round(v / unit)) }

// learn adds a point: the logistic loss and its derivatives.
func (t tally) learn(w weights, units []float64, p point) {
	margin := p.moon * w.output(units, p)
	slope := -p.moon / (1 + math.Exp(margin))
	for k, u := range units {
		inner := slope * w[4*k+3] * (1 - u*u)
		t.add(4*k, inner*p.x)
		t.add(4*k+1, inner*p.y)
		t.add(4*k+2, inner)
		t.add(4*k+3, slope*u)
	}
	t.add(len(w)-1, slope)
	t.add(len(w), math.Log1p(math.Exp(-margin)))
	if margin > 0 {
		t[len(w)+1]++
	}
}
