// Package grid prints figures in Markdown tables that are also readable as plain text.
package grid

import (
	"fmt"
	"slices"
	"strings"
)

// Figure prints four digits, without an exponent.
func Figure(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 100:
		return fmt.Sprintf("%.1f", v)
	case v >= 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// Ratio prints two decimals, and none from 100 up, where they mean nothing.
func Ratio(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Size prints a number of bytes; nothing for 0.
func Size(size int) string {
	switch {
	case size == 0:
		return ""
	case size >= 1<<20 && size%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", size>>20)
	case size >= 1<<10 && size%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", size>>10)
	}
	return fmt.Sprintf("%d B", size)
}

// Align returns lines of cells as a Markdown table, padded: the first column to the left, the
// others to the right. The first line is the head.
func Align(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, c := range l {
			widths[i] = max(widths[i], len(c))
		}
	}
	rule := make([]string, len(widths))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", max(w, 3)-1) + ":"
		widths[i] = max(w, 3)
	}
	rule[0] = strings.Repeat("-", widths[0])
	var b strings.Builder
	for _, l := range slices.Insert(slices.Clone(lines), 1, rule) {
		for i, c := range l {
			pad := strings.Repeat(" ", widths[i]-len(c))
			if i == 0 {
				c, pad = c+pad, ""
			}
			fmt.Fprintf(&b, "| %s%s ", pad, c)
		}
		b.WriteString("|\n")
	}
	return b.String()
}
