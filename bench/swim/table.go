package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A cell is the summary of the runs of one side.
type cell struct{ median, worst time.Duration }

func (c cell) String() string { return ms(c.median) + " | " + ms(c.worst) }

// cellOf summarizes the times until all knew.
func cellOf(times []time.Duration) cell {
	times = slices.Sorted(slices.Values(times))
	return cell{(times[(len(times)-1)/2] + times[len(times)/2]) / 2, times[len(times)-1]}
}

// table shows median and worst of each side, in ms, and the medians in periods.
func table(results []result, period time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| members | fault | SWIM: median, ms | worst | goulfm: median, ms | worst | medians in periods of %s ms | SWIM / goulfm |\n|---|---|---|---|---|---|---|---|\n", ms(period))
	for len(results) > 0 {
		of := results[0]
		times := map[string][]time.Duration{}
		results = slices.DeleteFunc(slices.Clone(results), func(r result) bool {
			same := r.n == of.n && r.fault == of.fault
			if same {
				times[r.side] = append(times[r.side], r.last)
			}
			return same
		})
		a, b2 := cellOf(times[swim{}.name()]), cellOf(times[ours{}.name()])
		periods := func(c cell) float64 { return float64(c.median) / float64(period) }
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %.1f, %.1f | %.1f |\n", of.n, of.fault, a, b2, periods(a), periods(b2), float64(a.median)/float64(b2.median))
	}
	return b.String()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e6) }
