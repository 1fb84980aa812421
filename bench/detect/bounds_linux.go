package main

import (
	"context"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
)

var (
	periodsFull  = []time.Duration{30 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond}
	periodsQuick = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}
)

// bounds is D3: with T = 2P and C = 1 ms every node that stands still is declared within P and T +
// C + P/10, for each period (PARCO 2019, figure 13).
func (b *bench) bounds(ctx context.Context) (*figure.Figure, error) {
	f := &figure.Figure{ID: "D3", Title: "D3: from a SIGSTOP of a node until it is declared, T = 2P, C = 1 ms", XLabel: "period P, ms", YLabel: "ms", LogY: true}
	n := b.sizes([]int{8}, []int{3})[0]
	suspected, declaration, all := f.Add("suspected", false), f.Add("declared", false), f.Add("all know", false)
	late := f.Add("a timer of this program was late by, at most", false)
	runs := b.runsOr(20, 2)
	var ps, low, high []float64
	taken, out, outAll, wrong := 0, 0, 0, 0
	for _, p := range b.periods() {
		s := setting{period: p, factor: 2, confirm: time.Millisecond}
		delays, bad, err := b.repeat(ctx, s, runs, one(n, faultStop))
		if err != nil {
			return nil, err
		}
		from, to := millis(p), millis(s.timeout()+s.confirm+p/10)
		var suspicions, declarations, alls, lates []float64
		for _, d := range delays {
			if d.suspected > 0 {
				suspected.At(millis(p), d.suspected)
				suspicions = append(suspicions, d.suspected)
			}
			declaration.At(millis(p), d.declaration)
			late.At(millis(p), d.late)
			lates = append(lates, d.late)
			all.At(millis(p), d.all)
			declarations, alls = append(declarations, d.declaration), append(alls, d.all)
		}
		ps, low, high = append(ps, millis(p)), append(low, from), append(high, to)
		o := outside(declarations, from, to)
		taken, out, outAll, wrong = taken+len(delays), out+o, outAll+outside(alls, from, to), wrong+bad
		f.Row(fmt.Sprintf("P = %g ms, %d nodes: declared, ms", millis(p), n), "in [P, T], 64 nodes", "%s, bounds %g to %g: %d of %d outside, %d runs with a false positive; suspicion after %s; timer late %s",
			spanOf(declarations), from, to, o, len(declarations), bad, spanOf(suspicions), spanOf(lates))
		say("D3, P %v: done", p)
	}
	f.State("P", ps, low)
	f.State("T + C + P/10", ps, high)
	f.Row("of all: outside of [P, T + C + P/10]", "0", "%d of %d declared, %d of %d known to all ranks; %d runs with a false positive", out, taken, outAll, taken, wrong)
	return f, nil
}

func (b *bench) periods() []time.Duration {
	if b.quick {
		return periodsQuick
	}
	return periodsFull
}
