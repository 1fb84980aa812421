package tidy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// measureOf is one property of prose that has a goal. Its value is a count per a number of
// words, sentences or lines, or, with per 0, a figure of its own.
type measureOf struct {
	name  string
	goal  float64
	per   float64
	pages bool // of Markdown alone
	count func(c *counts) (n, base float64)
}

// measures are in the order of the columns of [ProseTable].
var measures = []measureOf{
	{"who", 4, 1000, false, func(c *counts) (float64, float64) { return float64(c.who), float64(c.words) }},
	{"pronouns", 20, 1000, false, func(c *counts) (float64, float64) { return float64(c.pronouns), float64(c.words) }},
	{"verbs", 4, 1000, false, func(c *counts) (float64, float64) { return float64(c.verbs), float64(c.words) }},
	{"openers", 0, 100, false, func(c *counts) (float64, float64) { return float64(c.openers), float64(c.sentences) }},
	{"wide", 0.5, 100, false, func(c *counts) (float64, float64) { return float64(c.wide), float64(c.lines) }},
	{"mean", 17, 0, true, func(c *counts) (float64, float64) { return c.mean(), 0 }},
	{"p90", 28, 0, true, func(c *counts) (float64, float64) { return c.percentile(90), 0 }},
	{"paragraphs", 0, 0, true, func(c *counts) (float64, float64) { return float64(c.paragraphs), 0 }},
	{"bullets", 0, 0, true, func(c *counts) (float64, float64) { return float64(c.bullets), 0 }},
	{"cells", 0, 0, true, func(c *counts) (float64, float64) { return float64(c.cells), 0 }},
}

// value returns the measure of c, rounded up to a tenth: a ceiling that is written and read
// again is no lower than its value.
func (m *measureOf) value(c *counts) float64 {
	n, base := m.count(c)
	switch {
	case m.per == 0:
		return tenth(n)
	case base == 0:
		return 0
	}
	return tenth(n * m.per / base)
}

func tenth(v float64) float64 { return max(0, math.Ceil(v*10-1e-9)/10) }

// exceeds reports whether c is above limit. A count may be above by less than one, so that
// one pronoun does not fail a package of forty words. A goal of 0 allows none.
func (m *measureOf) exceeds(c *counts, limit float64) bool {
	n, base := m.count(c)
	if m.per == 0 {
		return n > limit
	}
	return n > math.Ceil(limit*base/m.per-1e-9)
}

// proseSlack is the percentage by which a value may be below its ceiling before the ceiling
// has to follow.
const proseSlack = 10

// ProsePath is the file of ceilings, for the units that do not meet a goal yet.
const ProsePath = "internal/testing/tidy/testdata/prose.txt"

// Prose compares the prose of every package and every page with its ceilings. A unit without
// a ceiling has to meet the goal.
func Prose(t *Tree, ceilings Ceilings) ([]Finding, error) {
	units, err := proseUnits(t)
	if err != nil {
		return nil, err
	}
	var found []Finding
	known := map[string]bool{}
	for _, u := range units {
		known[u.name] = true
		found = append(found, u.compare(ceilings[u.name])...)
	}
	for _, name := range ceilings.names() {
		if !known[name] {
			found = append(found, Finding{name, "is gone: remove its ceilings, " + proseLower})
		}
	}
	return found, nil
}

const proseLower = "go test ./internal/testing/tidy -run TestProse -update-prose"

func (u *unit) compare(ceilings map[string]float64) []Finding {
	var found []Finding
	for i := range measures {
		m := &measures[i]
		if m.pages && !u.page {
			continue
		}
		ceiling, listed := ceilings[m.name]
		limit, kind := m.goal, "goal"
		if listed {
			limit, kind = ceiling, "ceiling"
		}
		value := m.value(&u.counts)
		switch {
		case m.exceeds(&u.counts, limit):
			found = append(found, Finding{u.name, fmt.Sprintf("%s %.1f is above the %s %.1f%s", m.name, value, kind, limit, u.example(m.name))})
		case listed && !m.exceeds(&u.counts, m.goal), listed && value*100 < ceiling*(100-proseSlack):
			found = append(found, Finding{u.name, fmt.Sprintf("%s is %.1f: lower its ceiling of %.1f, %s", m.name, value, ceiling, proseLower)})
		}
	}
	return found
}

// example names one place that a measure counted.
func (u *unit) example(measure string) string {
	if at := u.last[measure]; at != "" {
		return ", for example in " + at
	}
	return ""
}

// unit is a package or a page with the counts of its prose.
type unit struct {
	name string // folder of the package, or path of the page
	page bool
	counts
}

// proseUnits counts the whole tree: packages first, then pages, each in the order of names.
func proseUnits(t *Tree) ([]*unit, error) {
	var units []*unit
	for _, p := range t.Packages {
		u := &unit{name: p.Dir}
		for _, f := range p.Files {
			if err := t.countSource(&u.counts, f); err != nil {
				return nil, err
			}
		}
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b *unit) int { return cmp.Compare(a.name, b.name) })
	pages, err := markdown(t)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		u := &unit{name: p.path, page: true}
		countPage(&u.counts, p.path, p.text)
		units = append(units, u)
	}
	return units, nil
}
