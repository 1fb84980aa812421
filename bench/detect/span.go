package main

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

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
