package main

import (
	"errors"
	"fmt"
	"math"
)

// A fit is the line y = a*log2(x) + b with the least squares.
type fit struct{ a, b, r2 float64 }

// errFit is the error of points that determine no line.
var errFit = errors.New("want points of at least two sizes, all above 0")

// fitLog2 fits a*log2(x) + b. r2 is the share of the variance of y that the line explains; 1 where
// y does not vary.
func fitLog2(x, y []float64) (fit, error) {
	n := float64(len(x))
	if len(x) != len(y) || len(x) < 2 {
		return fit{}, errFit
	}
	var sl, sy, sll, sly float64
	for i := range x {
		if x[i] <= 0 {
			return fit{}, errFit
		}
		l := math.Log2(x[i])
		sl, sy, sll, sly = sl+l, sy+y[i], sll+l*l, sly+l*y[i]
	}
	spread := n*sll - sl*sl
	if spread < 1e-9 {
		return fit{}, errFit
	}
	f := fit{a: (n*sly - sl*sy) / spread}
	f.b = (sy - f.a*sl) / n
	rest, all := 0.0, 0.0
	for i := range x {
		d := y[i] - f.at(x[i])
		rest += d * d
		all += (y[i] - sy/n) * (y[i] - sy/n)
	}
	if f.r2 = 1; all > 1e-12 {
		f.r2 = 1 - rest/all
	}
	return f, nil
}

func (f fit) at(x float64) float64 { return f.a*math.Log2(x) + f.b }

func (f fit) String() string {
	return fmt.Sprintf("%.2f·log2 N %+.2f ms, R² = %.2f", f.a, f.b, f.r2)
}

// outside counts values outside of [low, high].
func outside(values []float64, low, high float64) (n int) {
	for _, v := range values {
		if v < low || v > high {
			n++
		}
	}
	return n
}
