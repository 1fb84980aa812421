package main

import (
	"context"
	"fmt"
	"slices"
)

var (
	sizesFull  = []int{2, 4, 8, 16, 32, 64}
	sizesQuick = []int{2, 4}
)

// killed is D1: the death of a process, which is exact, and that of a daemon, which its
// connections show (PARCO 2019, figures 11 and 12).
func (b *bench) killed(ctx context.Context) (*figure, error) {
	f := &figure{id: "D1", title: "D1: from a SIGKILL until it is known", xLabel: "nodes", yLabel: "ms", logY: true}
	if err := b.latency(ctx, f, faultRank, "a rank killed", "all know below 5 ms on 64 nodes, 768 processes; a·log2 N + b (fig. 11); 10 ms for 4,096 processes (fig. 12)"); err != nil {
		return nil, err
	}
	f.state("paper: 5 ms", []float64{2, 64}, []float64{5, 5})
	return f, b.latency(ctx, f, faultKill, "a node killed", "by its silence alone: P to T, of 0.5 s and 1 s (fig. 14)")
}

// stopped is D2: a node that stands still, which only its silence shows.
func (b *bench) stopped(ctx context.Context) (*figure, error) {
	f := &figure{id: "D2", title: "D2: from a SIGSTOP of a node until it is known, P = 100 ms, T = 5P, C = T/2", xLabel: "nodes", yLabel: "ms"}
	f.state("P + T + C + P/10", []float64{2, 64}, []float64{860, 860})
	return f, b.latency(ctx, f, faultStop, "a node stopped", "P to T, of 0.5 s and 1 s, for 4 to 64 nodes (fig. 14): 1 to 2 P, with T = 2P")
}

// latency adds curves and rows of one kind of fault to a figure.
func (b *bench) latency(ctx context.Context, f *figure, how, name, paper string) error {
	first, all := f.add(name+": the first knows", false), f.add(name+": all know", false)
	runs, wrong := b.runsOr(20, 2), 0
	for _, n := range b.sizes(sizesFull, sizesQuick) {
		delays, bad, err := b.repeat(ctx, standard, runs, one(n, how))
		if err != nil {
			return err
		}
		for _, d := range delays {
			first.at(float64(n), d.first)
			all.at(float64(n), d.all)
		}
		wrong += bad
		say("%s, %s, %d nodes: done", f.id, name, n)
	}
	for _, c := range []*curve{first, all} {
		m := f.medianOf(c)
		stated := ""
		if c == all {
			stated = paper
		}
		f.row(fmt.Sprintf("%s, ms (medians of %d runs)", c.name, runs), stated, "%s; worst %s; %s", valuesAt(m), worstOf(c), fitOf(m))
	}
	if wrong > 0 {
		f.row(name+": runs in which another node was declared", "", "%d", wrong)
	}
	return nil
}

// valuesAt lists the points of a curve.
func valuesAt(c *curve) (text string) {
	for i := range c.x {
		text += fmt.Sprintf("%s%.1f (N %g)", sep(i), c.y[i], c.x[i])
	}
	return text
}

func sep(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

func worstOf(c *curve) string {
	if len(c.y) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f", slices.Max(c.y))
}

func fitOf(c *curve) string {
	f, err := fitLog2(c.x, c.y)
	if err != nil {
		return "no fit"
	}
	return f.String()
}
