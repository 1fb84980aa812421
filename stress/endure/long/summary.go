package long

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
)

// id names the drawing and its rows.
const id = "long"

// summarize prints the table of a log, and writes long.csv and long.svg beside the log.
func summarize(o options, out io.Writer) error {
	text, err := os.ReadFile(o.log)
	if err != nil {
		return err
	}
	rows, _, err := readRows(text)
	if err != nil {
		return fmt.Errorf("%s: %w", o.log, err)
	}
	p := figure.Place{IDs: []string{id}, Dir: filepath.Dir(o.log), Page: o.table}
	return p.Put(draw(rows), out)
}

// draw makes the figure: the memory of launchers and ranks, over the processes that were replaced
// so far. A piece has a launcher of its own, so the line of the launcher begins anew with each
// piece.
func draw(rows []row) *figure.Figure {
	f := &figure.Figure{
		ID: id, Title: "Memory of the launcher and of the largest rank",
		XLabel: "replaced processes, over all pieces", YLabel: "resident KiB", LinearX: true,
	}
	launcher, rank := f.Add("launcher: start, after a tenth, and end of each piece", true), f.Add("largest rank of each piece", false)
	s := sumsOf(rows)
	before, grown, after := 0.0, int64(0), 0.0
	most, least, largest, top := int64(0), int64(math.MaxInt64), int64(0), int64(math.MinInt64)
	for _, r := range rows {
		if !r.right() || r.Start == 0 || r.Tenth == 0 {
			continue // without a /proc there are no figures
		}
		lost := float64(r.Failures)
		launcher.At(before, float64(r.Start))
		launcher.At(before+lost/10, float64(r.Tenth))
		before += lost
		launcher.At(before, float64(r.End))
		rank.At(before, float64(r.Rank))
		grown, after = grown+r.End-r.Tenth, after+lost*9/10
		least, most, largest, top = min(least, r.Start), max(most, r.End), max(largest, r.Rank), max(top, r.End-r.Tenth)
	}
	perSecond := func(n uint64) float64 { return float64(n) / max(s.Seconds, 1) }
	f.Row("agreements", fmt.Sprint(paperAgreements), "%d", s.Agreements)
	f.Row("failed and replaced processes", fmt.Sprint(paperFailures), "%d", s.Failures)
	f.Row("seconds", fmt.Sprint(paperSeconds), "%.0f (pieces: %d)", s.Seconds, s.Pieces)
	f.Row("agreements a second", fmt.Sprintf("%.1f", paperAgreements/float64(paperSeconds)), "%.1f", perSecond(s.Agreements))
	f.Row("failures a second", fmt.Sprintf("%.2f", paperFailures/float64(paperSeconds)), "%.2f", perSecond(s.Failures))
	f.Row("wrong results; hangs", "0; 0", "%d; %d", s.Wrong, s.Hangs)
	if after > 0 {
		f.Row("launcher, resident KiB: smallest start, largest end", "", "%d, %d", least, most)
		f.Row("growth after the first tenth of a piece, KiB: largest", "", "%d", top)
		f.Row("the same for each replaced process, in bytes: mean", "", "%.1f", float64(grown)*1024/after)
		f.Row("largest rank, resident KiB", "", "%d", largest)
	}
	f.Row("machine", "16 nodes of 8 cores, 128 processes", "%s", strings.Join(processors(rows), "; "))
	return f
}

// processors lists the processors of a log, with the numbers of pieces.
func processors(rows []row) (all []string) {
	count := map[string]int{}
	for _, r := range rows {
		count[r.Processor]++
	}
	for name, n := range count {
		all = append(all, fmt.Sprintf("%s (pieces: %d)", name, n))
	}
	slices.Sort(all)
	return all
}
