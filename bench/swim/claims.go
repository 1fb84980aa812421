package main

import (
	"fmt"
	"slices"
)

// A claim is a value of a paper beside the measured values.
type claim struct {
	what, paper, ours string
	holds             verdict
	check             func(v []float64) bool
	values            []float64
}

// A verdict states whether a claim holds here.
type verdict string

// The verdicts. README.md explains each claim that is known to differ.
const (
	holds   verdict = "yes"
	fails   verdict = "NO"
	differs verdict = "no, see above"
)

// state adds a claim. check decides on the values alone, so that a test can plant wrong ones.
func (d *drawing) state(v []float64, check func(v []float64) bool, what, paper, ours string) {
	args := make([]any, len(v))
	for i := range v {
		args[i] = v[i]
	}
	c := claim{what, paper, fmt.Sprintf(ours, args...), fails, check, v}
	if check(v) {
		c.holds = holds
	}
	d.claims = append(d.claims, c)
}

// stateOther is state for a value that is known to differ from the paper.
func (d *drawing) stateOther(v []float64, check func(v []float64) bool, what, paper, ours string) {
	d.state(v, check, what, paper, ours)
	if c := &d.claims[len(d.claims)-1]; c.holds == fails {
		c.holds = differs
	}
}

// medians are those of a side at all cells.
func (d *drawing) medians(side string) (all []float64) {
	for _, p := range d.points(side) {
		all = append(all, p.median())
	}
	return all
}

// ratios divides the medians of one side by those of another.
func (d *drawing) ratios(of, by string) (all []float64) {
	a, b := d.medians(of), d.medians(by)
	for i := range a {
		all = append(all, a[i]/b[i])
	}
	return all
}

// wrong counts the wrong runs of a side with a period below a limit, in ms.
func (d *drawing) wrong(side string, below float64) (runs float64) {
	for _, p := range d.points(side) {
		if millis(p.c.period) < below {
			runs += float64(p.wrong)
		}
	}
	return runs
}

// judge states the claims of the figure.
func (d *drawing) judge() {
	switch d.id {
	case overMembers:
		d.judgeBounds()
		d.judgeMembers()
	case overPeriods:
		d.judgeBounds()
		d.judgePeriods()
	case withDefaults:
		d.judgeDefaults()
	}
}

// stable is the most by which medians of goulfm may differ over the members. The time of a run is
// uniform over a period, so medians of 20 runs differ by chance.
const stable = 1.5

// judgeBounds states the claims of all figures with the settings of the papers. The least of the
// ratios decides, so that one point without an advantage makes the claim fail.
func (d *drawing) judgeBounds() {
	own := d.medians(nameOurs)
	var shares []float64
	for i, c := range d.of.cells() {
		shares = append(shares, own[i]/c.latest())
	}
	d.state([]float64{slices.Min(own), slices.Max(own), slices.Max(shares)}, func(v []float64) bool { return v[0] >= 1 && v[2] <= 1 },
		"goulfm: medians from P to T + C + P/10 + 10 ms", "RDAEMON#: from P to T (PARCO 2019 §5.4)", "%.2f to %.2f periods, at most %.2f of the bound")
	ratios := slices.Concat(d.ratios(namePushPull, nameOurs), d.ratios(namePure, nameOurs))
	d.state([]float64{slices.Min(ratios), slices.Max(ratios)}, func(v []float64) bool { return v[0] >= 2 },
		"SWIM takes at least twice as long", "more than 10 P against 1 P to 2 P (PARCO 2019 §5.4)", "%.1f to %.1f times")
	slow := slices.Concat(d.medians(namePushPull), d.medians(namePure))
	d.stateOther([]float64{slices.Min(slow), slices.Max(slow)}, func(v []float64) bool { return v[0] > 10 },
		"SWIM: medians above 10 P", "above 10 P, 256 members (PARCO 2019 §5.4)", "%.1f to %.1f periods")
	d.state([]float64{d.wrong(nameOurs, 1e9)}, func(v []float64) bool { return v[0] == 0 },
		"goulfm: no living member is declared dead", "accurate for all periods (RR-9024 §5.4)", "wrong runs: %.0f")
}

// judgeMembers states the claims about growth with the members.
func (d *drawing) judgeMembers() {
	own := d.medians(nameOurs)
	d.state([]float64{slices.Max(own) / slices.Min(own)}, func(v []float64) bool { return v[0] <= stable },
		"goulfm: about the same for all sizes", "almost the same (PARCO 2019 §5.4)", "medians differ by %.2f times")
	grows := d.medians(namePushPull)
	d.state([]float64{grows[len(grows)-1] / grows[0]}, func(v []float64) bool { return v[0] > 1.1 },
		"SWIM grows with the members", "1.4 s to over 2 s (RR-9024 §5.4), linear (PARCO 2019 §5.4)", "%.2f times, largest by smallest")
}

// judgePeriods states the claims about the sweep of periods.
func (d *drawing) judgePeriods() {
	ratios := d.ratios(namePure, namePushPull)
	d.stateOther([]float64{slices.Min(ratios), slices.Max(ratios)}, func(v []float64) bool { return v[0] >= 0.7 && v[1] <= 1.43 },
		"pure SWIM against push-pull: a minor difference", "minor, push-pull marginally better (RR-9024 §5.4)", "%.2f to %.2f times")
	d.stateOther([]float64{d.wrong(namePure, 100) + d.wrong(namePushPull, 100)}, func(v []float64) bool { return v[0] > 0 },
		"SWIM: wrong runs with P below 100 ms", "false positives of all variants (RR-9024 §5.4)", "wrong runs: %.0f")
}

// judgeDefaults states the claim about killed members. No paper has these settings.
func (d *drawing) judgeDefaults() {
	var ratios []float64
	for _, c := range d.of.cells() {
		if c.fault == faultKill {
			ratios = append(ratios, d.at(namePushPull, c).median()/d.at(nameOurs, c).median())
		}
	}
	d.state([]float64{slices.Min(ratios), slices.Max(ratios)}, func(v []float64) bool { return v[0] >= 10 },
		"kill: SWIM takes at least ten times as long", "(none: connections reveal a killed process)", "%.0f to %.0f times")
	d.state([]float64{d.wrong(nameOurs, 1e9)}, func(v []float64) bool { return v[0] == 0 },
		"goulfm: no living member is declared dead", "(none: own goal)", "wrong runs: %.0f")
}
