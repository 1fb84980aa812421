package main

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// several is D4: nodes that stand still at the same moment, in a row or at random (PARCO 2019,
// figure 15).
func (b *bench) several(ctx context.Context) (*figure, error) {
	f := &figure{id: "D4", title: "D4: from a SIGSTOP of several nodes until all know all, P = 100 ms, T = 5P, C = T/2", xLabel: "nodes that stop at once", yLabel: "ms"}
	n := b.sizes([]int{16}, []int{5})[0]
	runs := b.runsOr(10, 1)
	row, random := f.add("in a row", false), f.add("at random", false)
	most := min(8, n-1)
	if b.quick {
		most = min(2, most)
	}
	for k := 1; k <= most; k++ {
		for _, c := range []*curve{row, random} {
			delays, bad, err := b.repeat(ctx, standard, runs, func(run int) fault {
				return fault{nodes: n, how: faultStop, victims: pickVictims(rand.New(rand.NewPCG(uint64(run), uint64(k))), n, k, c == row)}
			})
			if err != nil {
				return nil, err
			}
			for _, d := range delays {
				c.at(float64(k), d.all)
			}
			if bad > 0 {
				f.row(fmt.Sprintf("%d %s: runs in which another node was declared", k, c.name), "", "%d of %d", bad, runs)
			}
		}
		say("D4, %d nodes at once: done", k)
	}
	papers := map[*curve]string{row: "linear in timeouts", random: "marginal increase"}
	for _, c := range []*curve{row, random} {
		m, paper := f.medianOf(c), papers[c]
		text := ""
		for i := range m.x {
			text += fmt.Sprintf("%s%.0f (f %g)", sep(i), m.y[i], m.x[i])
		}
		f.row(fmt.Sprintf("%s, of %d nodes, ms (medians of %d)", c.name, n, runs), paper+" (64 nodes)", "%s; worst %s", text, worstOf(c))
	}
	return f, nil
}
