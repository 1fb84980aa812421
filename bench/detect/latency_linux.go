package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
)

var (
	sizesFull  = []int{2, 4, 8, 16, 32, 64}
	sizesQuick = []int{2, 4}
)

// killed is D1: the death of a process, which is exact, and that of a daemon, which its
// connections show (PARCO 2019, figures 11 and 12).
func (b *bench) killed(ctx context.Context) (*figure.Figure, error) {
	f := &figure.Figure{ID: "D1", Title: "D1: from a SIGKILL until it is known", XLabel: "nodes", YLabel: "ms", LogY: true}
	if err := b.latency(ctx, f, faultRank, "a rank killed", "all know below 5 ms on 64 nodes, 768 processes; a·log2 N + b (fig. 11); 10 ms for 4,096 processes (fig. 12)"); err != nil {
		return nil, err
	}
	f.State("paper: 5 ms", []float64{2, 64}, []float64{5, 5})
	return f, b.latency(ctx, f, faultKill, "a node killed", "by its silence alone: P to T, of 0.5 s and 1 s (fig. 14)")
}

// stopped is D2: a node that stands still, which only its silence shows.
func (b *bench) stopped(ctx context.Context) (*figure.Figure, error) {
	f := &figure.Figure{ID: "D2", Title: "D2: from a SIGSTOP of a node until it is known, P = 100 ms, T = 5P, C = T/2", XLabel: "nodes", YLabel: "ms"}
	f.State("P + T + C + P/10", []float64{2, 64}, []float64{860, 860})
	return f, b.latency(ctx, f, faultStop, "a node stopped", "P to T, of 0.5 s and 1 s, for 4 to 64 nodes (fig. 14): 1 to 2 P, with T = 2P")
}

// latency adds curves and rows of one kind of fault to a figure.
func (b *bench) latency(ctx context.Context, f *figure.Figure, how, name, paper string) error {
	first, all := f.Add(name+": the first knows", false), f.Add(name+": all know", false)
	runs, wrong := b.runsOr(20, 2), 0
	for _, n := range b.sizes(sizesFull, sizesQuick) {
		delays, bad, err := b.repeat(ctx, standard, runs, one(n, how))
		if err != nil {
			return err
		}
		for _, d := range delays {
			first.At(float64(n), d.first)
			all.At(float64(n), d.all)
		}
		wrong += bad
		say("%s, %s, %d nodes: done", f.ID, name, n)
	}
	for _, c := range []*figure.Curve{first, all} {
		m := f.MedianOf(c)
		stated := ""
		if c == all {
			stated = paper
		}
		f.Row(fmt.Sprintf("%s, ms (medians of %d runs)", c.Name, runs), stated, "%s; worst %s; %s", valuesAt(m), worstOf(c), fitOf(m))
	}
	if wrong > 0 {
		f.Row(name+": runs in which another node was declared", "", "%d", wrong)
	}
	return nil
}

// valuesAt lists the points of a curve.
func valuesAt(c *figure.Curve) (text string) {
	for i := range c.X {
		text += fmt.Sprintf("%s%.1f (N %g)", sep(i), c.Y[i], c.X[i])
	}
	return text
}

func sep(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

func worstOf(c *figure.Curve) string {
	if len(c.Y) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f", slices.Max(c.Y))
}

func fitOf(c *figure.Curve) string {
	f, err := fitLog2(c.X, c.Y)
	if err != nil {
		return "no fit"
	}
	return f.String()
}
