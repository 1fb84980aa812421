package main

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// failuresData has the times of agreements of real processes after one or more failures, by
// bench/measure failures: for each number of failures the median of each phase.
const failuresData = "../measure/agree/out/ring10right-ranks.csv"

// mostAfter is the time below which the paper has the agreement after failures, in us.
const mostAfter = 1500.0

// An afterFailures is the curves of Figure 10, right: the agreement that detects the failures, and
// the later ones, in us over the number of failures.
type afterFailures struct {
	of               string // the processes
	without          float64
	detecting, later *series
	state            func(v values, check func(v []float64) bool, what, paper, ours string)
}

// failuresFigure is Figure 10, right: random processes die at once, and the detector has told all
// others of each death when they agree, at the cost of a message a notice.
func failuresFigure(r run) []*figure {
	top, most := 6000, 64
	if r.quick {
		top, most = 1024, 16
	}
	m := fit(darter, top, mono.Duration(1e3*stated(float64(top))))
	f := &figure{id: "ring10right", title: "RR-9024, Fig. 10 right: agreement after 1 to n failures, bin/bin", xLabel: "failures", yLabel: "us until the last returns", logX: true, logY: true}
	c := afterFailures{of: fmt.Sprintf("%d processes", top), detecting: f.add("detecting", true)}
	acknowledged, told := f.add("after the acknowledgement", true), f.add("detecting, the notices 100 us after the deaths", true)
	c.later = f.add("later, rebalanced", true)
	c.without = micros(newGroup(m, top, binBin).agree(rankset.Set{}))
	for failures := 1; failures <= most; failures *= 2 {
		victims := shapes[1].of(top, failures)
		g, v := newGroup(m, top, binBin), float64(failures)
		g.lose(victims)
		first, dead := micros(g.agree(rankset.Set{})), rankset.Of(victims...)
		g.expect(dead)
		c.detecting.at(v, first)
		acknowledged.at(v, micros(g.agree(dead)))
		told.at(v, micros(m.agreeUntold(top, victims)))
		if failures > 1 && failures < most {
			continue // a point of the last curve costs as much as all others
		}
		for range rebalancedAfter {
			g.agree(dead)
		}
		c.later.at(v, micros(g.agree(dead)))
	}
	ends := []float64{1, float64(most)}
	f.stated("below 1.5 ms", ends, []float64{mostAfter, mostAfter})
	f.stated("without failures, 80 us", ends, []float64{80, 80})
	c.state = f.of
	c.judge()
	return []*figure{f}
}

// rebalancedAfter is the number of agreements after which the tree has no dead members.
const rebalancedAfter = 20

// agreeUntold is an agreement in which all others learn of the deaths while they agree.
func (m machine) agreeUntold(n int, victims []int) mono.Duration {
	g := newGroup(m, n, binBin)
	g.kill(victims, told)
	return g.agree(rankset.Set{})
}

// judge states the claims of section 5.5. The paper has 6,000 processes.
func (c afterFailures) judge() {
	detecting := c.detecting.y
	c.state(values{slices.Min(detecting), slices.Max(detecting)}, func(v []float64) bool { return 0 < v[0] && v[1] < mostAfter },
		"agreement after failures, "+c.of, "below 1.5 ms, in place of 80 ms (RR-9024 §5.5)", "%.0f to %.0f us")
	c.state(values{linearFit(c.detecting.x, detecting), detecting[0], c.detecting.last()}, func(v []float64) bool { return v[0] > 0.9 && v[2] > v[1] },
		"growth with the failures, "+c.of, "linear (RR-9024 §5.5)", "a linear fit has R² = %.3f; %.0f to %.0f us")
	c.state(values{slices.Max(c.later.y), c.without}, func(v []float64) bool { return 0 < v[0] && v[0] <= 1.25*v[1] },
		"later agreements against those without failures, "+c.of, "(none: own goal, at most a quarter more)", "%.0f against %.0f us")
}

// failuresRanksFigure is Figure 10, right, with real processes, which all share the cores of one
// machine.
func failuresRanksFigure(run) []*figure {
	f := &figure{id: "ring10right-ranks", title: "RR-9024, Fig. 10 right: agreement of real processes after failures, two cores", xLabel: "failures", yLabel: "us, the slowest rank, median", logX: true, logY: true}
	if err := f.readFarm(failuresData); err != nil {
		f.claim(false, "times of agreements by bench/measure can be read", "(none)", "%v", err)
		return []*figure{f}
	}
	f.judgeFailures()
	return []*figure{f}
}

// judgeFailures judges the four curves of bench/measure failures, in their order.
func (f *figure) judgeFailures() {
	if len(f.series) != 4 {
		f.claim(false, "bench/measure failures has four curves", "(none)", "%d", len(f.series))
		return
	}
	c := afterFailures{of: "real processes", detecting: f.series[1], later: f.series[3], state: f.but}
	c.without = slices.Max(f.series[0].y)
	c.judge()
}
