package main

import (
	"fmt"
	"slices"
)

// ranksData has the times of agreements of real processes, by bench/measure agree: for each size
// the medians of eleven runs of both algorithms (README.md). It also has the median of the ratios of
// these runs.
const ranksData = "../measure/agree/out/era2a-ranks.csv"

// ranksFigure is Figure 2a with real processes, which all share the cores of one machine.
func ranksFigure(run) []*figure {
	f := &figure{id: "era2a-ranks", title: "ERA, Fig. 2a: agreement of real processes on two cores", xLabel: "processes", yLabel: "us, the slowest rank, median", logX: true, logY: true}
	if err := f.readFarm(ranksData); err != nil {
		f.claim(false, "times of agreements by bench/measure can be read", "", "%v", err)
		return []*figure{f}
	}
	ratio := f.curve("Log2phases by era")
	f.series = slices.DeleteFunc(f.series, func(s *series) bool { return s == ratio }) // no time
	judgeRanks(f, f.curve("measured, --agree era"), f.curve("measured, Log2phases"), ratio)
	return []*figure{f}
}

// curve returns the curve of a name, empty if there is none.
func (f *figure) curve(name string) *series {
	if i := slices.IndexFunc(f.series, func(s *series) bool { return s.name == name }); i >= 0 {
		return f.series[i]
	}
	return &series{name: name}
}

// judgeRanks compares the curves, which have the same places.
func judgeRanks(f *figure, era, two, ratio *series) {
	for i, n := range ratio.x {
		f.differs(ratio.y[i] > 1.1, fmt.Sprintf("E7: real processes, %.0f", n), "era outperforms Log2phases significantly",
			"Log2phases takes %.2f times as long, by the median turn (%.0f and %.0f us)", ratio.y[i], two.y[i], era.y[i])
	}
}
