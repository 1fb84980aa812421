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
)

var sideNames = []string{namePushPull, namePure, nameOurs}

// A point is the runs of one side at one cell, in periods until all members knew.
type point struct {
	side  string
	c     cell
	all   []float64
	wrong int
}

// median is NaN if all runs were wrong.
func (p point) median() float64 {
	if len(p.all) == 0 {
		return math.NaN()
	}
	return record.Median(p.all)
}

// worst is NaN if all runs were wrong.
func (p point) worst() float64 {
	if len(p.all) == 0 {
		return math.NaN()
	}
	return slices.Max(p.all)
}

// A drawing is a figure with its results.
type drawing struct {
	id      string
	of      layout
	results []result
	claims  []claim
	failed  int // claims that do not hold
}

// x is the place of a cell: its period in the sweep of periods, its members otherwise.
func (d *drawing) x(c cell) float64 {
	if d.id == overPeriods {
		return millis(c.period)
	}
	return float64(c.n)
}

// at returns the runs of a side at a cell.
func (d *drawing) at(side string, c cell) point {
	p := point{side: side, c: c}
	for _, r := range d.results {
		switch {
		case r.side != side || r.c != c:
		case r.wrong:
			p.wrong++
		default:
			p.all = append(p.all, float64(r.last)/float64(c.period))
		}
	}
	return p
}

// points are those of a side, in the order of the cells.
func (d *drawing) points(side string) (all []point) {
	for _, c := range d.of.cells() {
		all = append(all, d.at(side, c))
	}
	return all
}

// draw makes the figure and its rows: the machine, a row for each cell, and the claims.
func (d *drawing) draw(load string, runs int) *figure.Figure {
	f := &figure.Figure{ID: d.id, Title: d.of.title, XLabel: "members", YLabel: "periods until all members know"}
	if d.id == overPeriods {
		f.XLabel = "period P, ms"
	}
	for _, fault := range d.of.faults {
		for _, side := range sideNames {
			c := f.Add(nameOf(side, fault, d.of.faults), false)
			for _, p := range d.points(side) {
				for _, y := range p.all {
					if p.c.fault == fault {
						c.At(d.x(p.c), y)
					}
				}
			}
			f.MedianOf(c)
		}
	}
	cells := d.of.cells()
	ends := []float64{d.x(cells[0]), d.x(cells[len(cells)-1])}
	if d.id != withDefaults {
		f.State("paper: RDAEMON#, from P (PARCO 2019, fig. 10)", ends, []float64{1, 1})
		f.State("paper: RDAEMON#, to T (PARCO 2019, fig. 10)", ends, []float64{2, 2})
		f.State("paper: SWIM, at least (PARCO 2019, fig. 10)", ends, []float64{10, 10})
	}
	f.Row("conditions", "", "load average %s at the start, %d processors, %d runs of each side", load, runtime.NumCPU(), runs)
	for _, c := range cells {
		d.row(f, c)
	}
	d.judge()
	for _, c := range d.claims {
		f.Row(c.what, c.paper, "%s: %s", c.ours, c.holds)
		if c.holds == fails {
			d.failed++
		}
	}
	return f
}

func nameOf(side, fault string, faults []string) string {
	if len(faults) > 1 {
		return side + ", " + fault
	}
	return side
}

// row is the medians and the worst values of all sides at a cell.
func (d *drawing) row(f *figure.Figure, c cell) {
	var cells []string
	wrong := ""
	for _, side := range sideNames {
		p := d.at(side, c)
		cells = append(cells, fmt.Sprintf("%s %.1f (%.1f)", side, p.median(), p.worst()))
		if p.wrong > 0 {
			wrong += fmt.Sprintf("; wrong runs of %s: %d", side, p.wrong)
		}
	}
	f.Row(fmt.Sprintf("%d members, %s, P %v: periods, median (worst)", c.n, c.fault, c.period), paperOf[d.id], "%s%s", strings.Join(cells, "; "), wrong)
}

// paperOf is the source of the values of each figure. The text of a paper states few values.
var paperOf = map[string]string{
	overMembers: "RR-9024 §5.4, fig. 9 right; PARCO 2019 §5.4, fig. 9",
	overPeriods: "RR-9024 §5.4, fig. 9 left; PARCO 2019 §5.4, fig. 10",
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }
