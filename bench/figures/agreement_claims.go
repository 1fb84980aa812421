package main

import (
	"fmt"
	"math"
)

// The claims of the paper about agreements, beside the drawn values. Each judge takes its data as
// given, so that a test can give wrong data.

func sizesEnd(x []float64) float64 { return x[len(x)-1] }

// isLogarithmic reports whether a curve is rather a·log2 x + b than a·x + b, and the two fits.
func isLogarithmic(s *series) (is bool, log, linear float64) {
	_, _, log = logFit(s.x, s.y)
	linear = linearFit(s.x, s.y)
	return log > linear, log, linear
}

// growth is Figure 2a.
type growth struct{ era, reduce, two, binomial, walks *series }

func (c growth) judge(f *figure, m machine) {
	off := 0.0
	for i, x := range c.era.x {
		off = max(off, math.Abs(c.era.y[i]/stated(x)-1))
	}
	n := sizesEnd(c.era.x)
	a, b, r2 := logFit(c.era.x, c.era.y)
	f.claim(r2 > 0.97, "E7: growth of era", "logarithmic", "%.2f·log2 n %+.1f us, R² = %.4f", a, b, r2)
	f.differs(off < 0.05, "E1: the curve at all sizes", "6.7·log_2.125 n = 6.16·log2 n us, asymptotic standard error 0.6 %", "up to %.0f %% below it, at %v processes", 100*off, c.era.x[0])
	f.claim(math.Abs(c.era.last()/stated(n)-1) < 0.02, fmt.Sprintf("E1: %v processes", n), fmt.Sprintf("%.1f us (the one number fitted)", stated(n)),
		"%.1f us with o = %.2f us, L = %.1f us (%.1f us within a node)", c.era.last(), micros(m.overhead), micros(m.between), micros(m.within))
	log, fitLog, fitLinear := isLogarithmic(c.two)
	f.differs(!log, "E7: growth of Log2phases, by its messages", "linear", "logarithmic: R² = %.3f with log2 n, %.3f with n", fitLog, fitLinear)
	f.differs(c.era.last() < c.two.last(), fmt.Sprintf("E7: era against Log2phases, %v processes", n), "era outperforms it significantly",
		"era loses: %.1f us, Log2phases %.1f us; on the same tree era takes %.1f us", c.era.last(), c.two.last(), c.binomial.last())
	_, fitLog, fitLinear = isLogarithmic(c.walks)
	f.assumed("E7: Log2phases, if members walk through the list of all processes", "linear, despite the expected theoretical bound",
		"R² = %.3f with n, %.3f with log2 n; %.0f us at 2 ns an entry, which is assumed", fitLinear, fitLog, c.walks.last())
}

// aftermath is Figure 2c.
type aftermath struct{ without, detecting, stabilising, later, rebalanced *series }

func (c aftermath) judge(f *figure) {
	log, fitLog, fitLinear := isLogarithmic(c.stabilising)
	f.differs(!log, "2c: growth of the stabilising agreement", "linear, for the tree that is rebuilt",
		"logarithmic: R² = %.3f with log2 n, %.3f with n; rebuilding costs no message", fitLog, fitLinear)
	off := apart(c.stabilising, c.later)
	f.claim(off < 0.1, "2c: stabilising, without a rebuilt tree, against after it", "similar", "at most %.1f %% apart", 100*off)
	off = apart(c.rebalanced, c.without)
	f.claim(off < 0.05, "2c: after it, rebalanced, against without failures", "indistinguishable", "at most %.1f %% apart", 100*off)
	off = apart(c.later, c.rebalanced)
	f.claim(off < 0.15, "2c: one failure, not rebalanced against rebalanced", "similar", "at most %.1f %% apart", 100*off)
	share := 1.0
	for _, d := range c.detecting.y {
		share = min(share, micros(told)/d)
	}
	f.claim(share > 0.5, "2c: detecting", "strongly correlated to the timeout and the propagation of the detector",
		"%.0f us at %v processes; the %.0f us until the first learns of the death are at least %.0f %%", c.detecting.last(), sizesEnd(c.detecting.x), micros(told), 100*share)
}

// apart returns the greatest relative distance of two curves over the same places.
func apart(a, b *series) (most float64) {
	for i := range a.y {
		most = max(most, math.Abs(a.y[i]/b.y[i]-1))
	}
	return most
}

// roleCases are the columns of Table 2d, with the values of the paper.
var roleCases = []struct {
	name                      string
	victims                   []int
	detect, stabilise, beyond float64
}{
	{"0 (root)", []int{0}, 12659, 104.9, 69.7},
	{"4 (child of 0)", []int{4}, 93816, 102, 75.7},
	{"16 (node master)", []int{16}, 80023, 98.9, 77.1},
	{"17 (child of 16)", []int{17}, 112414, 104.2, 76.7},
	{"16-31 (full node)", []int{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}, 82171, 117.1, 85.2},
}

// roleTable is Table 2d; its lists are in the order of roleCases.
type roleTable struct {
	size                             int
	before                           float64 // without failures
	detect, stabilise, later, mended []float64
	rebalanced                       float64 // after the death of the full node
}

func (t roleTable) judge(f *figure) {
	for i, c := range roleCases {
		ratio, paperRatio := t.later[i]/t.before, c.beyond/stated(float64(t.size))
		f.differs(t.stabilise[i]/t.later[i] <= 1.4 && math.Abs(ratio-paperRatio) < 0.1, "E2-E4: failure of "+c.name,
			fmt.Sprintf("%.0f us to detect, %.1f us to stabilise, %.1f us after (%.2f of failure-free)", c.detect, c.stabilise, c.beyond, paperRatio),
			"%.0f us to detect (told after 100 to 110 us), %.1f us, %.1f us (%.2f)", t.detect[i], t.stabilise[i], t.later[i], ratio)
	}
	last := len(t.later) - 1
	f.differs(t.later[last] > t.later[0], "Table 2d: lower in the tree, from the root to the full node", "slower: 69.7 to 85.2 us",
		"reversed: %.1f to %.1f us, because the subtrees of the dead move up a level; with mended links at 4 us more %.1f to %.1f", t.later[0], t.later[last], t.mended[0], t.mended[last])
	f.claim(math.Abs(t.rebalanced/stated(float64(t.size))-1) < 0.05, "Table 2d: rebalanced after the death of a full node", "indistinguishable from failure-free", "%.1f us", t.rebalanced)
}
