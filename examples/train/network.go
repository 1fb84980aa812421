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

// makePoint depends only on i, so any process can make any point at any time.
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

// output is positive where the network assigns p to the first moon. units receives the values of
// the hidden units.
func (w weights) output(units []float64, p point) float64 {
	sum := w[len(w)-1]
	for k := range units {
		of := w[4*k : 4*k+4]
		units[k] = math.Tanh(of[0]*p.x + of[1]*p.y + of[2])
		sum += of[3] * units[k]
	}
	return sum
}

// A tally is a sum over points, in integer multiples of unit, so that the order does not matter. It
// has the gradient, then the loss, then the number of points that the network classifies correctly.
type tally []int64

// unit is about 1e-12. Sums of eight million terms of size one do not overflow.
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
