package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/grid"
	"github.com/goulfm/goulfm/internal/testing/harness/machine"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

const (
	// noteAbove is the ratio from which a row is marked.
	noteAbove = 1.05
	// failAbove is the ratio from which a row is an alarm, and fails if it is one in all
	// repetitions.
	failAbove   = 1.3
	repetitions = 3
)

// ratios are how many times as slow the head is as the base, by pair.
func (r result) ratios() []float64 {
	all := make([]float64, min(len(r.base), len(r.head)))
	for i := range all {
		all[i] = r.head[i] / r.base[i]
		if record.MoreIsBetter(r.unit) {
			all[i] = r.base[i] / r.head[i]
		}
	}
	return all
}

func (r result) ratio() float64 { return record.Median(r.ratios()) }

// alarms reports whether the head is worse than the limit allows. Unless three of four pairs agree
// that the head is worse at all, the row only shows how busy the machine is.
func (r result) alarms() bool {
	return r.ratio() > failAbove && record.Quantile(r.ratios(), 0.25) > 1
}

// fails are the rows that alarm.
func fails(results []result) (rows []row) {
	for _, r := range results {
		if r.alarms() {
			rows = append(rows, r.row)
		}
	}
	return rows
}

// judge measures and prints the table. With limit, rows that are worse are measured again, and the
// error names those that were worse in all repetitions.
func (m *meter) judge(ctx context.Context, fs []family, limit bool, out io.Writer) error {
	load := machine.Load()
	results, lacks, err := m.measureAll(ctx, fs)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "base %s, head %s; %s; load before %s; %d pairs\n\n%s", m.base.revision, m.head.revision, machine.Processor(), load, m.pairs, table(results))
	printLacks(out, lacks)
	if !limit {
		return nil
	}
	bad := fails(results)
	for repetition := 2; repetition <= repetitions && len(bad) > 0; repetition++ {
		fmt.Fprintf(m.progress, "ab: repetition %d of %d of %d rows that were worse by more than 30 %%\n", repetition, repetitions, len(bad))
		again, _, err := m.measureAll(ctx, concerned(fs, bad))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\nrepetition %d:\n\n%s", repetition, table(again))
		bad = fails(again)
	}
	if len(bad) == 0 {
		_, err := fmt.Fprintf(out, "\nno row is worse by more than 30 %% in %d repetitions\n", repetitions)
		return err
	}
	lines := make([]string, len(bad))
	for i, r := range bad {
		lines[i] = r.String()
	}
	return fmt.Errorf("worse than %s by more than 30 %% in %d repetitions:\n\t%s", m.base.revision, repetitions, strings.Join(lines, "\n\t"))
}

// concerned are the families of rows, with these alone.
func concerned(fs []family, rows []row) (some []family) {
	for _, f := range fs {
		if f.keep(func(r row) bool { return slices.Contains(rows, r) }); len(f.rows) > 0 {
			some = append(some, f)
		}
	}
	return some
}

func table(results []result) string {
	lines := [][]string{{"row", "ranks", "size", "unit", "base", "head", "ratio", "quartiles", "mark"}}
	for _, r := range results {
		ratios := r.ratios()
		lines = append(lines, []string{r.row.bench, strconv.Itoa(r.row.n), grid.Size(r.row.size), r.unit,
			grid.Figure(record.Median(r.base)), grid.Figure(record.Median(r.head)), grid.Ratio(r.ratio()),
			grid.Ratio(record.Quantile(ratios, 0.25)) + "-" + grid.Ratio(record.Quantile(ratios, 0.75)), r.mark()})
	}
	return grid.Align(lines)
}

func (r result) mark() string {
	switch {
	case r.alarms():
		return "30 %"
	case r.ratio() > noteAbove:
		return "5 %"
	}
	return ""
}

func printLacks(out io.Writer, lacks []lack) {
	if len(lacks) > 0 {
		fmt.Fprintln(out, "\nNot measured:")
	}
	for _, l := range lacks {
		fmt.Fprintf(out, "* %s: %s: %s\n", l.row, l.side, brief(l.reason))
	}
}

// briefMax bounds the reason of a row that was not measured, in bytes.
const briefMax = 200

// brief writes a reason as one line and keeps its last briefMax bytes, which are nearest to the
// cause.
func brief(reason string) string {
	if _, after, ok := strings.Cut(reason, ": exit status "); ok { // before it is the command line
		reason = "exit status " + after
	}
	reason = strings.Join(strings.Fields(reason), " ")
	if len(reason) > briefMax {
		reason = "..." + reason[len(reason)-briefMax:]
	}
	return reason
}
