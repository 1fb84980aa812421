package main

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// MiniFE in LFLR, as ERA runs it on nodes of 16 cores: 20 steps with a commit before and after the
// solver, an agreement in each commit and in each iteration. The paper states neither the
// iterations of a step nor the time of one without the agreement. The iterations here are the most
// that MiniFE makes by default. The time is for 65,536 rows of 27 entries at the 5 GB/s of a core
// of such a node.
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
		g = newTwoPhase(m, with)
		repairTwo.at(x, micros(g.shrink(victim)+2*g.agree(rankset.Of(victim...))+lists))
		agree.at(x, micros(newGroup(m, with, flat).agree(rankset.Set{})))
		agreeTwo.at(x, micros(newTwoPhase(m, with).agree(rankset.Set{})))
		work := lflrSteps * lflrIterations * micros(lflrIteration)
		all, allTwo = work+lflrAgreements*agree.last(), work+lflrAgreements*agreeTwo.last()
		share.at(x, 100*(1-work/all))
		shareTwo.at(x, 100*(1-work/allTwo))
	}
	for _, f := range []*figure{a, b, c} {
		f.addMeasured()
	}
	lflrCurves{repair, repairTwo, agree, agreeTwo, sizes, all, allTwo}.judge(a, b, c)
	for _, how := range []string{"node", "era"} {
		for i, n := range here.x {
			a.beside(fmt.Sprintf("5a: repair of %.0f, --agree %s", n, how), here.y[i], "measured, --agree "+how, n)
			b.beside(fmt.Sprintf("5b: an agreement of %.0f, --agree %s", n, how), agree.y[i], "measured, --agree "+how, n)
		}
	}
	return []*figure{a, b, c}
}
