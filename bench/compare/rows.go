package main

import (
	"slices"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A key names a row.
type key struct {
	bench   string
	n, size int
}

// measured is the figures of one task: for each row and contender, the figures of each round.
type measured struct {
	task       task
	contenders []*contender
	keys       []key
	units      map[key]string
	rounds     map[key]map[string][][]float64
}

func newMeasured(t task) *measured {
	return &measured{task: t, units: map[key]string{}, rounds: map[key]map[string][][]float64{}}
}

// add takes in the records of a contender in a round.
func (m *measured) add(name string, records []record.Record) {
	for _, r := range derive(records) {
		k := key{r.Bench, r.N, r.Size}
		if m.rounds[k] == nil {
			m.keys = append(m.keys, k)
			m.units[k] = r.Unit
			m.rounds[k] = map[string][][]float64{}
		}
		m.rounds[k][name] = append(m.rounds[k][name], r.Batches)
	}
}

// perAllreduce is the row of the cost of an agreement, in reductions of 8 bytes of the same library
// in the same run.
const perAllreduce = "agree_per_allreduce"

func derive(records []record.Record) []record.Record {
	find := func(bench string) int {
		return slices.IndexFunc(records, func(r record.Record) bool { return r.Bench == bench })
	}
	a, b := find("agree"), find("allreduce_before")
	if a < 0 || b < 0 {
		return records
	}
	ratio := records[a].Summary().Median / records[b].Summary().Median
	return slices.Insert(slices.Clone(records), b+1, record.Record{Bench: perAllreduce, N: records[a].N, Unit: record.Times, Batches: []float64{ratio}})
}

// drop forgets a contender.
func (m *measured) drop(c *contender) {
	m.contenders = slices.DeleteFunc(m.contenders, func(x *contender) bool { return x == c })
	for _, by := range m.rounds {
		delete(by, c.name)
	}
}

// rows are the table's, in the order in which ours printed them.
func (m *measured) rows(date string) []Row {
	m.overSizes()
	var rows []Row
	for _, k := range m.keys {
		ours := m.rounds[k][oursName]
		if len(ours) == 0 {
			continue // a row of a peer that goulfm does not print
		}
		row := Row{Bench: k.bench, N: k.n, Size: k.size, Unit: m.units[k], Date: date, Rounds: len(ours),
			Ours: record.Summarize(slices.Concat(ours...)), Peers: map[string]Versus{}}
		for _, c := range m.contenders {
			if theirs := m.rounds[k][c.name]; c.name != oursName && len(theirs) == len(ours) {
				row.Peers[c.name] = versus(ours, theirs)
			}
		}
		row.Target = m.verdict(k)
		rows = append(rows, row)
	}
	return rows
}

// versus divides ours by theirs, round by round.
func versus(ours, theirs [][]float64) Versus {
	ratios := divide(medians(ours), medians(theirs))
	return Versus{
		Summary: record.Summarize(slices.Concat(theirs...)),
		Ratio:   record.Median(ratios),
		Low:     record.Quantile(ratios, 0.25),
		High:    record.Quantile(ratios, 0.75),
	}
}

func medians(rounds [][]float64) []float64 {
	ms := make([]float64, len(rounds))
	for i, r := range rounds {
		ms[i] = record.Median(r)
	}
	return ms
}

func divide(a, b []float64) []float64 {
	q := make([]float64, len(a))
	for i := range a {
		q[i] = a[i] / b[i]
	}
	return q
}

// verdict compares a row with its target; nil if the row has no target, or there is nobody to
// compare with.
func (m *measured) verdict(k key) *Verdict {
	t, ok := targetOf(k)
	if !ok {
		return nil
	}
	ours := medians(m.rounds[k][oursName])
	base := m.base(t, k)
	if len(base) != len(ours) {
		return nil
	}
	v := &Verdict{target: t, Value: record.Median(divide(ours, base))}
	v.Met = v.Value <= t.Bound
	if t.Op == ">=" {
		v.Met = v.Value >= t.Bound
	}
	return v
}

// base is the divisor of goulfm's figures for a target, round by round.
func (m *measured) base(t target, k key) []float64 {
	var base []float64
	switch t.Against {
	case itself:
		for range m.rounds[k][oursName] {
			base = append(base, 1)
		}
	case reference:
		base = medians(m.rounds[k][m.reference()])
	case best:
		for _, c := range m.contenders {
			if c.name != oursName && !c.twin && len(m.rounds[k][c.name]) == len(m.rounds[k][oursName]) {
				base = better(m.units[k], base, medians(m.rounds[k][c.name]))
			}
		}
	}
	return base
}

// reference is the first peer of the description; "" if the peer was left out here.
func (m *measured) reference() string {
	for _, c := range m.contenders {
		if c.first {
			return c.name
		}
	}
	return ""
}

// better returns the better figure of the two for each round.
func better(unit string, a, b []float64) []float64 {
	if a == nil {
		return b
	}
	c := make([]float64, len(a))
	for i := range a {
		if record.MoreIsBetter(unit) {
			c[i] = max(a[i], b[i])
		} else {
			c[i] = min(a[i], b[i])
		}
	}
	return c
}
