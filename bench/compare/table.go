package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/grid"
)

// print writes the table and the notes for a terminal.
func (r *results) print(out io.Writer) error {
	_, err := fmt.Fprintf(out, "\n%s%sLoad before the run: %s. Figures of a busy machine say little.\n", r.table(), r.notes(), r.About.Load)
	return err
}

// markdown is RESULTS.md.
func (b *book) markdown() string {
	var page strings.Builder
	page.WriteString("# goulfm beside MPI libraries\n\nWritten by `make compare`, one table for each model of processor. Ours and each peer took turns in one run.\n" +
		"A ratio is ours divided by the peer's turn of the same round, median of the rounds, quartiles in brackets. Times:\n" +
		"smaller is better; MB/s and Mmsg/s: larger.\n\n" +
		"Targets are about the first peer, or about the best peer of each round; [MISSED.md](MISSED.md) explains missed targets.\n" +
		"A run replaces its measured rows: each row has the date and the revision of its own run.\n")
	for _, r := range b.Processors {
		page.WriteString(r.section())
	}
	return page.String()
}

// section is the part of RESULTS.md about one processor.
func (r *results) section() string {
	a := r.About
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s, %d cores\n\nThe last run:\n\n", a.Machine, a.Cores)
	for _, f := range [][2]string{
		{"date", a.Date}, {"kernel", a.Kernel},
		{"load before", a.Load}, {"goulfm", a.Code + ", " + a.Go}, {"command", "`" + a.Command + "`"},
	} {
		fmt.Fprintf(&b, "* %s: %s\n", f[0], f[1])
	}
	for _, p := range a.Peers {
		fmt.Fprintf(&b, "* %s: %s\n", p.Name, p.Version)
	}
	fmt.Fprintf(&b, "\n%s%s", r.table(), r.notes())
	return b.String()
}

func (r *results) notes() string {
	if len(r.Notes) == 0 {
		return ""
	}
	return "\nNot measured:\n\n* " + strings.Join(r.Notes, "\n* ") + "\n"
}

// table is a Markdown table with aligned columns, readable as text.
func (r *results) table() string {
	head := []string{"metric", "n", "size", "unit", "goulfm"}
	for _, p := range r.About.Peers {
		head = append(head, p.Name, "ratio")
	}
	lines := [][]string{append(head, "target", "reached", "met", "rounds", "date", "revision")}
	for _, row := range r.Rows {
		lines = append(lines, r.line(row))
	}
	return grid.Align(lines) + "\n" + r.score()
}

func (r *results) line(row Row) []string {
	cells := []string{row.Bench, strconv.Itoa(row.N), grid.Size(row.Size), row.Unit, grid.Figure(row.Ours.Median)}
	for _, p := range r.About.Peers {
		if v, ok := row.Peers[p.Name]; ok {
			cells = append(cells, grid.Figure(v.Median), fmt.Sprintf("%s (%s-%s)", grid.Ratio(v.Ratio), grid.Ratio(v.Low), grid.Ratio(v.High)))
		} else {
			cells = append(cells, "-", "-")
		}
	}
	return append(append(cells, row.Target.cells()...), strconv.Itoa(row.Rounds), row.Date, row.Code)
}

func (v *Verdict) cells() []string {
	if v == nil {
		return []string{"", "", ""}
	}
	text := v.Op + " " + strconv.FormatFloat(v.Bound, 'g', -1, 64)
	if v.Against == best {
		text += " of best"
	}
	met := "no"
	if v.Met {
		met = "yes"
	}
	return []string{text, grid.Ratio(v.Value), met}
}

// score returns how many targets are met, and the names of the others.
func (r *results) score() string {
	var missed []string
	of := 0
	for _, row := range r.Rows {
		if row.Target == nil {
			continue
		}
		of++
		if !row.Target.Met {
			cells := row.Target.cells()
			missed = append(missed, fmt.Sprintf("%s: %s, target %s", row.key().name(), cells[1], cells[0]))
		}
	}
	text := fmt.Sprintf("%d of %d targets met.\n", of-len(missed), of)
	if len(missed) > 0 {
		text += "\nMissed:\n\n* " + strings.Join(missed, "\n* ") + "\n"
	}
	return text
}

// name identifies the row for people.
func (k key) name() string {
	if k.size == 0 {
		return fmt.Sprintf("%s, %d ranks", k.bench, k.n)
	}
	return fmt.Sprintf("%s, %d ranks, %s", k.bench, k.n, grid.Size(k.size))
}
