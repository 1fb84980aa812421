package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A table is the rows of a figure, and the values behind them.
type table struct {
	id     string
	title  []string // of the columns
	rows   [][]string
	values []values
}

// values are the single values of a row.
type values struct {
	what, unit string
	all        []float64
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) keep(what, unit string, all []float64) {
	t.values = append(t.values, values{what, unit, all})
}

// text is the table in Markdown.
func (t *table) text() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.title)
	b.WriteString(strings.Repeat("|---", len(t.title)) + "|\n")
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}

// spread is the median of some values and their quartiles.
func spread(all []float64) string {
	if len(all) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (%s-%s)", short(record.Median(all)), short(record.Quantile(all, 0.25)), short(record.Quantile(all, 0.75)))
}

// short is a value in a table, with three digits, or all digits before the point.
func short(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// over divides each value of a round by the other value of that round.
func over(a, b []float64) (all []float64) {
	for i := range min(len(a), len(b)) {
		all = append(all, a[i]/b[i])
	}
	return all
}

// publish writes the files that the flags name.
func (b *bench) publish(t *table) error {
	var errs []error
	if b.csv != "" {
		errs = append(errs, t.writeValues(b.csv))
	}
	if b.table != "" {
		page, err := os.ReadFile(b.table)
		if err != nil {
			return err
		}
		text, err := replaceTable(string(page), t, b.only == "")
		if err != nil {
			return fmt.Errorf("%s: %w", b.table, err)
		}
		errs = append(errs, os.WriteFile(b.table, []byte(text), 0o644))
	}
	return errors.Join(errs...)
}

// writeValues adds all single values to a file, which is made if necessary.
func (t *table) writeValues(name string) error {
	_, missing := os.Stat(name)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if missing != nil {
		_ = w.Write([]string{"figure", "what", "unit", "value"}) // w.Error returns the error
	}
	for _, v := range t.values {
		for _, x := range v.all {
			_ = w.Write([]string{t.id, v.what, v.unit, number(x)})
		}
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// number is a value in a file.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// replaceTable puts a table into a page, in place of the table after its marker. Without all rows,
// the old rows about other things stay.
func replaceTable(page string, t *table, all bool) (string, error) {
	marker := "<!-- " + t.id + " -->\n"
	head, tail, found := strings.Cut(page, marker)
	if !found {
		return "", fmt.Errorf("no line %s: put one where the table shall be", strings.TrimSpace(marker))
	}
	var old []string
	for strings.HasPrefix(tail, "|") {
		var line string
		line, tail, _ = strings.Cut(tail, "\n")
		old = append(old, line)
	}
	whole := *t
	if !all && len(old) > 2 {
		whole.rows = merge(old[2:], t.rows)
	}
	return head + marker + whole.text() + tail, nil
}

// merge returns the rows of a table in a page. A new row with the same first cell replaces an old
// row; the other new rows follow.
func merge(old []string, fresh [][]string) (rows [][]string) {
	left := slices.Clone(fresh)
	for _, line := range old {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		i := slices.IndexFunc(left, func(r []string) bool { return r[0] == cells[0] })
		if i < 0 {
			rows = append(rows, cells)
			continue
		}
		rows, left = append(rows, left[i]), slices.Delete(left, i, i+1)
	}
	return append(rows, left...)
}

// A graph is the curves of one figure of the paper, as measured.
type graph struct {
	id, xLabel, yLabel string
	curves             []curve
}

type curve struct {
	name string
	x, y []float64
}

// at adds a point to the curve of that name.
func (g *graph) at(name string, x, y float64) {
	i := slices.IndexFunc(g.curves, func(c curve) bool { return c.name == name })
	if i < 0 {
		i = len(g.curves)
		g.curves = append(g.curves, curve{name: name})
	}
	c := &g.curves[i]
	c.x, c.y = append(c.x, x), append(c.y, y)
}

// write makes ID.csv in a folder, a line for each point, like bench/figures.
func (g *graph) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, g.id+".csv"))
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"series", g.xLabel, g.yLabel}) // w.Error returns the error
	for _, c := range g.curves {
		for i := range c.x {
			_ = w.Write([]string{c.name, number(c.x[i]), number(c.y[i])})
		}
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// readGraph reads such a file. A missing file has no curves.
func readGraph(dir, id string) (*graph, error) {
	g := &graph{id: id}
	f, err := os.Open(filepath.Join(dir, id+".csv"))
	if errors.Is(err, os.ErrNotExist) {
		return g, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	for i, r := range rows {
		if i == 0 || len(r) != 3 {
			continue
		}
		x, errX := strconv.ParseFloat(r[1], 64)
		y, errY := strconv.ParseFloat(r[2], 64)
		if err := errors.Join(errX, errY); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", f.Name(), i+1, err)
		}
		g.at(r[0], x, y)
	}
	return g, nil
}

// value is the point of a curve at x; ok is false where there is none.
func (g *graph) value(name string, x float64) (y float64, ok bool) {
	for _, c := range g.curves {
		if i := slices.Index(c.x, x); c.name == name && i >= 0 {
			return c.y[i], true
		}
	}
	return 0, false
}
