package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
)

// several is D4: nodes that stand still at the same moment, in a row or at random (PARCO 2019,
// figure 15).
func (b *bench) several(ctx context.Context) (*figure.Figure, error) {
	f := &figure.Figure{ID: "D4", Title: "D4: from a SIGSTOP of several nodes until all know all, P = 100 ms, T = 5P, C = T/2", XLabel: "nodes that stop at once", YLabel: "ms"}
	n := b.sizes([]int{16}, []int{5})[0]
	runs := b.runsOr(10, 1)
	row, random := f.Add("in a row", false), f.Add("at random", false)
	most := min(8, n-1)
	if b.quick {
		most = min(2, most)
	}
	for k := 1; k <= most; k++ {
		for _, c := range []*figure.Curve{row, random} {
			delays, bad, err := b.repeat(ctx, standard, runs, func(run int) fault {
				return fault{nodes: n, how: faultStop, victims: pickVictims(rand.New(rand.NewPCG(uint64(run), uint64(k))), n, k, c == row)}
			})
			if err != nil {
				return nil, err
			}
			for _, d := range delays {
				c.At(float64(k), d.all)
			}
			if bad > 0 {
				f.Row(fmt.Sprintf("%d %s: runs in which another node was declared", k, c.Name), "", "%d of %d", bad, runs)
			}
		}
		say("D4, %d nodes at once: done", k)
	}
	papers := map[*figure.Curve]string{row: "linear in timeouts", random: "marginal increase"}
	for _, c := range []*figure.Curve{row, random} {
		m, paper := f.MedianOf(c), papers[c]
		text := ""
		for i := range m.X {
			text += fmt.Sprintf("%s%.0f (f %g)", sep(i), m.Y[i], m.X[i])
		}
		f.Row(fmt.Sprintf("%s, of %d nodes, ms (medians of %d)", c.Name, n, runs), paper+" (64 nodes)", "%s; worst %s", text, worstOf(c))
	}
	return f, nil
}
