package main

import (
	"fmt"
	"slices"
)

// lostCurves are those of Figure 4a with the most processes.
type lostCurves struct{ era, two *series }

func (c lostCurves) judge(f *figure) {
	k := len(c.era.y) - 1
	f.claim(slices.IsSorted(c.era.y) && c.era.y[k] > 1.2*c.era.y[0], "4a: era, from 16 to the most lost", "the smaller the failure, the faster", "%.0f to %.0f us", c.era.y[0], c.era.y[k])
	times := c.two.y[0] / c.era.y[0]
	f.differs(times > 8 && times < 32, "4a: time of Log2phases by that of era, 16 lost", "16 times (6.85 against 0.43 s)", "%.2f times (%.0f against %.0f us)", times, c.two.y[0], c.era.y[0])
	wins := 0
	for i := range c.era.y {
		if c.era.y[i] < c.two.y[i] {
			wins++
		}
	}
	f.differs(wins == len(c.era.y), "4a: absolute time of a shrink", "clearly smaller with era, in all cases", "smaller with era in %d of %d; most lost: era %.0f us, Log2phases %.0f", wins, len(c.era.y), c.era.y[k], c.two.y[k])
	f.differs(c.two.y[k] < 1.2*c.two.y[0], "4a: Log2phases, from 16 to the most lost", "the same time regardless of the failure size", "%.0f to %.0f us, for the notices of the deaths", c.two.y[0], c.two.y[k])
}

// paperFactors are how much faster ERA is in Figure 4b, at 1,000, 2,197 and 4,913 processes. Beyond
// these Log2phases did not run.
var paperFactors = []float64{1.4, 2.3, 4.4}

// shapeCurves are those of Figure 4b with the dead side by side.
type shapeCurves struct{ era, two, walks *series }

func (c shapeCurves) judge(f *figure) {
	most := 0.0
	for i, paper := range paperFactors {
		times := c.two.y[i] / c.era.y[i]
		most = max(most, times)
		f.differs(times > 0.75*paper && times < paper/0.75, fmt.Sprintf("4b: time of Log2phases by that of era, %.0f processes", c.two.x[i]), fmt.Sprintf("%.1f times", paper),
			"%.2f times (%.0f against %.0f us)", times, c.two.y[i], c.era.y[i])
	}
	f.differs(most > 7, "4b: the greatest factor where both ran", "almost an order of magnitude, by the text; 4.4, by the figure", "%.2f times", most)

	// The cost of a walk through the list that would give the last factor, and the other factors
	// then.
	k := len(paperFactors) - 1
	per := func(i int) float64 { return (c.walks.y[i] - c.two.y[i]) / micros(walked) } // by us an entry
	entry := (paperFactors[k]*c.era.y[k] - c.two.y[k]) / per(k)
	at := func(i int) float64 { return (c.two.y[i] + entry*per(i)) / c.era.y[i] }
	f.assumed("4b: the same, if members walk through the list of all processes", "1.4, 2.3 and 4.4 times", "%.1f, %.1f and %.1f times at %.1f ns an entry, fitted to the last", at(0), at(1), at(2), 1e3*entry)
}

// lflrCurves are those of Figures 5a and 5b, with their largest sizes, and the time of a run.
type lflrCurves struct {
	repair, repairTwo, agree, agreeTwo *series
	sizes                              []int
	all, allTwo                        float64 // us, of the largest size
}

func (c lflrCurves) judge(a, b, whole *figure) {
	least, most := c.sizes[0], c.sizes[len(c.sizes)-1]
	grow := func(s *series) float64 { return s.last() / s.y[len(s.y)-len(c.sizes)] }
	a.differs(grow(c.repair) < grow(c.repairTwo) && c.repair.last() < c.repairTwo.last(), fmt.Sprintf("5a: repair, %d to %d processes", least, most), "ERA scales significantly better",
		"era %.0f us, %.2f times that of the fewest; Log2phases %.0f us, %.2f times", c.repair.last(), grow(c.repair), c.repairTwo.last(), grow(c.repairTwo))
	b.differs(c.agree.last() < c.agreeTwo.last(), fmt.Sprintf("5b: all %d agreements of a run, %d processes", lflrAgreements, most), "the benefit of ERA remains visible",
		"era %.2f s, Log2phases %.2f s", lflrAgreements*c.agree.last()/1e6, lflrAgreements*c.agreeTwo.last()/1e6)
	faster := 100 * (1 - c.all/c.allTwo)
	whole.differs(faster > 7 && faster < 13, fmt.Sprintf("5c: the whole, %d processes", most), "ERA makes it 10 % faster",
		"%.1f %% (%.2f against %.2f s) with iterations of %.1f ms, which is assumed", faster, c.all/1e6, c.allTwo/1e6, micros(lflrIteration)/1e3)
}
