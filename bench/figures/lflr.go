package main

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// MiniFE in LFLR, as ERA runs it on nodes of 16 cores: 20 steps with a commit before and after the
// solver, an agreement in each commit and in each iteration. How many iterations a step has, and
// how long one takes without the agreement, the paper does not say: here they are the most that
// MiniFE makes unless it is told, and what 65,536 rows of 27 entries take at the 5 GB/s that a core
// of such a node has of its memory.
const (
	lflrSteps      = 20
	lflrCommits    = 2
	lflrIterations = 200
	lflrIteration  = 65536 * 27 * 12 * mono.Nanosecond / 5
	lflrSpares     = 32
)

// lflrAgreements are all of a run.
const lflrAgreements = lflrSteps * (lflrCommits + lflrIterations)

// lflrFigures are Figures 5a to 5c of ERA.
func lflrFigures(r run) []*figure {
	top, sizes := 6000, []int{512, 1024, 2048}
	if r.quick {
		top, sizes = 512, []int{64, 128, 256}
	}
	m := fit(darter, top, mono.Duration(1e3*stated(float64(top))))
	a := &figure{id: "lflr5a", title: "ERA, Fig. 5a: MiniFE, repair of the communicator", xLabel: "processes", yLabel: "us", logX: true, logY: true}
	b := &figure{id: "lflr5b", title: "ERA, Fig. 5b: MiniFE, an agreement", xLabel: "processes", yLabel: "us", logX: true, logY: true}
	c := &figure{id: "lflr5c", title: "ERA, Fig. 5c: MiniFE, share of agreements in all time", xLabel: "processes", yLabel: "%", logX: true}
	repair, repairTwo := a.add("era, as in LFLR: shrink and two splits", true), a.add("Log2phases, as in LFLR", true)
	here := a.add("era, as here: six agreements and an exchange", true)
	agree, agreeTwo := b.add("era", true), b.add("Log2phases", true)
	share, shareTwo := c.add("era", true), c.add("Log2phases", true)
	for _, n := range []int{8, 16, 32} {
		here.at(float64(n), micros(newGroup(m, n, flat).repair([]int{n / 2})))
		agree.at(float64(n), micros(newGroup(m, n, flat).agree(rankset.Set{})))
	}
	var all, allTwo float64 // in us, of the largest size
	for _, n := range sizes {
		x, with := float64(n), n+lflrSpares
		lists := 2 * m.upAndDown(with, mono.Duration(with)*scan)
		g, victim := newGroup(m, with, flat), []int{n / 2}
		repair.at(x, micros(g.shrink(victim)+2*g.agree(rankset.Of(victim...))+lists))
		repairTwo.at(x, micros(4*m.twoPhase(with, scan)+lists))
		agree.at(x, micros(newGroup(m, with, flat).agree(rankset.Set{})))
		agreeTwo.at(x, micros(m.twoPhase(with, scan)))
		work := lflrSteps * lflrIterations * micros(lflrIteration)
		all, allTwo = work+lflrAgreements*agree.last(), work+lflrAgreements*agreeTwo.last()
		share.at(x, 100*(1-work/all))
		shareTwo.at(x, 100*(1-work/allTwo))
	}
	for _, f := range []*figure{a, b, c} {
		f.addMeasured()
	}
	grow := func(s *series) float64 { return s.last() / s.y[len(s.y)-len(sizes)] }
	a.claim(grow(repair) < grow(repairTwo) && repair.last() < repairTwo.last(), fmt.Sprintf("5a: repair, %d to %d processes", sizes[0], sizes[len(sizes)-1]), "ERA scales significantly better", "era %.0f us, %.2f times that of the fewest; Log2phases %.0f us, %.2f times",
		repair.last(), grow(repair), repairTwo.last(), grow(repairTwo))
	b.claim(agree.last() < agreeTwo.last(), fmt.Sprintf("5b: all %d agreements of a run, %d processes", lflrAgreements, sizes[len(sizes)-1]), "the benefit of ERA remains visible", "era %.2f s, Log2phases %.2f s", lflrAgreements*agree.last()/1e6, lflrAgreements*agreeTwo.last()/1e6)
	faster := 100 * (1 - all/allTwo)
	c.differs(faster > 7 && faster < 13, fmt.Sprintf("5c: the whole, %d processes", sizes[len(sizes)-1]), "ERA makes it 10 % faster", "%.1f %% (%.1f against %.1f s) with iterations of %.1f ms, which is assumed", faster, all/1e6, allTwo/1e6, micros(lflrIteration)/1e3)
	for _, how := range []string{"node", "era"} {
		for i, n := range here.x {
			a.beside(fmt.Sprintf("5a: repair of %.0f, --agree %s", n, how), here.y[i], "measured, --agree "+how, n)
			b.beside(fmt.Sprintf("5b: an agreement of %.0f, --agree %s", n, how), agree.y[i], "measured, --agree "+how, n)
		}
	}
	return []*figure{a, b, c}
}
