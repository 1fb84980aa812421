package main

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/bench/internal/record"
)

// A kind is an operation of a size.
type kind struct {
	bench   string
	n, size int
	unit    string
}

func (k kind) String() string {
	if k.size == 0 {
		return fmt.Sprintf("%s, %d ranks", k.bench, k.n)
	}
	return fmt.Sprintf("%s of %d B, %d ranks", k.bench, k.size, k.n)
}

// A turns has the figures of each kind, by setting and round. Setting 0 is what others are compared with.
type turns struct {
	settings int
	rows     []kind
	values   map[kind][][]float64
}

func newTurns(settings int) *turns { return &turns{settings: settings, values: map[kind][][]float64{}} }

// add takes the median of a record's batches.
func (t *turns) add(setting int, r record.Record) {
	k := kind{r.Bench, r.N, r.Size, r.Unit}
	if t.values[k] == nil {
		t.rows = append(t.rows, k)
		t.values[k] = make([][]float64, t.settings)
	}
	t.values[k][setting] = append(t.values[k][setting], r.Summary().Median)
}

// overheads is how much more time a setting took than setting 0 in each round, as a fraction; below 0 if
// it was faster. Figures of different rounds are never compared.
func (t *turns) overheads(k kind, setting int) (all []float64) {
	base := t.values[k][0]
	for round, v := range t.values[k][setting] {
		if round == len(base) {
			break
		}
		ratio := v / base[round]
		if record.MoreIsBetter(k.unit) {
			ratio = 1 / ratio
		}
		all = append(all, ratio-1)
	}
	return all
}

// spanOf is the least, the median and the most of some values.
func spanOf(values []float64) string {
	if len(values) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f to %.1f, median %.1f", slices.Min(values), slices.Max(values), record.Median(values))
}

// spanPercent is spanOf fractions.
func spanPercent(fractions []float64) string {
	if len(fractions) == 0 {
		return "none"
	}
	return fmt.Sprintf("%+.1f to %+.1f %%, median %+.1f %%", 100*slices.Min(fractions), 100*slices.Max(fractions), 100*record.Median(fractions))
}
