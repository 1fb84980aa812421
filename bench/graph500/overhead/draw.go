package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/turns"
)

// A subject is the contents of one figure.
type subject struct{ id, variant, part, paper string }

// The paper's result for all four.
const said = ": mean close to 0, within the spread of runs without detector, for all periods (32K ranks, 1K nodes, scale 20)"

// subjects are the figures, in their order, and the same of a symmetric heap.
var subjects = []subject{
	{"G17", "simple", "search", "fig. 17" + said},
	{"G18", "simple", "validation", "fig. 18" + said},
	{"G19", "onesided", "search", "fig. 19" + said},
	{"G20", "onesided", "validation", "fig. 20" + said},
	{"G19s", "onesided-shmem", "search", "fig. 19" + said},
	{"G20s", "onesided-shmem", "validation", "fig. 20" + said},
}

// ofNodes ends the name of a figure about heartbeats between nodes.
const ofNodes = "n"

// ids are all names of figures.
func ids() (all []string) {
	for _, end := range []string{"", ofNodes} {
		for _, s := range subjects {
			all = append(all, s.id+end)
		}
	}
	return all
}

func variantsKnown() (all []string) {
	for _, s := range subjects {
		all = append(all, s.variant)
	}
	return slices.Compact(all)
}

func subjectsOf(variant string) (all []subject) {
	for _, s := range subjects {
		if s.variant == variant {
			all = append(all, s)
		}
	}
	return all
}

// draw makes the figure of a subject: for each number of ranks a point for each round, the medians,
// and the band of jobs without heartbeats.
func (p plan) draw(s subject, t *turns.Turns) *figure.Figure {
	f := &figure.Figure{ID: s.id, XLabel: "period of the heartbeats, ms", YLabel: "overhead, %"}
	between := "between ranks"
	if p.nodes > 0 {
		f.ID += ofNodes
		between = fmt.Sprintf("between %d nodes", p.nodes)
	}
	f.Row("conditions", "", "load average %s at the start, %d processors", p.load, runtime.NumCPU())
	f.Title = fmt.Sprintf("%s: %s, %s, scale %d, with heartbeats %s", f.ID, s.variant, s.part, p.scale, between)
	for _, k := range t.Kinds {
		if k.Bench == s.variant+" "+s.part {
			p.drawKind(f, s, t, k, between)
		}
	}
	return f
}

func (p plan) drawKind(f *figure.Figure, s subject, t *turns.Turns, k turns.Kind, between string) {
	c := f.Add(fmt.Sprintf("%d ranks", k.N), false)
	var over []float64
	for i, period := range p.periods {
		rounds := t.Overheads(k, i+1)
		for _, v := range rounds {
			c.At(millis(period), 100*v)
		}
		over = append(over, 100*record.Median(rounds))
	}
	f.MedianOf(c)
	sigma := 100 * t.Sigma(k)
	edges := []float64{millis(slices.Min(p.periods)), millis(slices.Max(p.periods))}
	f.Band(c, fmt.Sprintf("%d ranks without heartbeats: σ", k.N), edges, []float64{-sigma, -sigma}, []float64{sigma, sigma})
	alone := record.Median(slices.Concat(t.Of(k, 0), t.Of(k, len(p.periods)+1)))
	f.Row(fmt.Sprintf("%s, %s of %d roots, scale %d, %d ranks, heartbeats %s: overhead (medians of %d rounds)", s.variant, s.part, p.searches, p.scale, k.N, between, p.rounds),
		s.paper, "%s; σ without heartbeats %.1f %%; %s; T0 %.2f s", p.list(over), sigma, p.statement(over, sigma), alone/1e3)
}

// list names the overhead of each period.
func (p plan) list(over []float64) string {
	var all []string
	for i, period := range p.periods {
		all = append(all, fmt.Sprintf("%+.1f %% (%v)", over[i], period))
	}
	return strings.Join(all, ", ")
}

// statement compares the effect with the spread σ, the difference of equal jobs. It names the periods
// at which the effect is above the spread.
func (p plan) statement(over []float64, sigma float64) string {
	var all []string
	for i, period := range p.periods {
		if !(math.Abs(over[i]) <= sigma) { // also without a number
			all = append(all, period.String())
		}
	}
	if len(all) == 0 {
		return "the effect is below the spread for all periods"
	}
	return "the effect is above the spread for " + strings.Join(all, ", ")
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }
