package main

import (
	"slices"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// medianSuffix ends the name of the row that sums a collective up over its sizes.
const medianSuffix = "_median"

// overSizes adds the row of the median to the rows of a collective. Its unit is the time of goulfm:
// goulfm has 1 in each round, and a peer has the median over the sizes of how many times as long
// the peer takes. So the ratio of this row is the median of the ratios.
func (m *measured) overSizes() {
	if m.task.suite != everyColl || len(m.keys) == 0 {
		return
	}
	sizes := slices.Clone(m.keys)
	k := key{m.task.verb + medianSuffix, m.task.n, 0}
	m.keys, m.units[k] = append(m.keys, k), record.Times
	m.rounds[k] = map[string][][]float64{oursName: ones(len(m.rounds[sizes[0]][oursName]))}
	for _, c := range m.contenders {
		if times, ok := m.medianOf(c.name, sizes); ok && c.name != oursName {
			m.rounds[k][c.name] = times
		}
	}
}

func ones(n int) [][]float64 { return slices.Repeat([][]float64{{1}}, n) }

// medianOf is how many times as long as goulfm a peer takes, for each round the median over the
// sizes; false if the peer lacks a size.
func (m *measured) medianOf(peer string, sizes []key) (times [][]float64, ok bool) {
	bySize := make([][]float64, len(sizes))
	for i, k := range sizes {
		ours, theirs := medians(m.rounds[k][oursName]), medians(m.rounds[k][peer])
		if len(ours) != len(theirs) || len(ours) != len(m.rounds[sizes[0]][oursName]) {
			return nil, false
		}
		bySize[i] = divide(theirs, ours)
	}
	for round := range bySize[0] {
		var all []float64
		for _, ratios := range bySize {
			all = append(all, ratios[round])
		}
		times = append(times, []float64{record.Median(all)})
	}
	return times, true
}
