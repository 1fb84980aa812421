package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A figure is one graph with its data, and rows of the table.
type figure struct {
	id, title, xLabel, yLabel string
	logY                      bool
	curves                    []*curve
	rows                      []row
}

// A curve is points, joined by a line or not. What a paper or a rule states is drawn dashed.
type curve struct {
	name         string
	line, stated bool
	of           *curve // whose medians these are, or nil
	x, y         []float64
}

// A row is a value that was measured beside the paper's.
type row struct{ what, paper, ours string }

func (f *figure) add(name string, line bool) *curve {
	c := &curve{name: name, line: line}
	f.curves = append(f.curves, c)
	return c
}

// state adds what a paper or a rule says.
func (f *figure) state(name string, x, y []float64) {
	f.curves = append(f.curves, &curve{name: name, line: true, stated: true, x: x, y: y})
}

// medianOf adds the line through the medians of a curve's points.
func (f *figure) medianOf(c *curve) *curve {
	m := f.add(c.name+", median", true)
	m.of = c
	m.x, m.y = medians(c.x, c.y)
	return m
}

func (f *figure) row(what, paper, ours string, args ...any) {
	f.rows = append(f.rows, row{what, paper, fmt.Sprintf(ours, args...)})
}

func (c *curve) at(x, y float64) { c.x, c.y = append(c.x, x), append(c.y, y) }

// write makes ID.csv and ID.svg in dir.
func (f *figure) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := f.writeCSV(filepath.Join(dir, f.id+".csv")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, f.id+".svg"), []byte(f.svg()), 0o644)
}

// writeCSV writes a line a point, as bench/figures does.
func (f *figure) writeCSV(name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(out)
	_ = w.Write([]string{"series", f.xLabel, f.yLabel}) // Flush says what went wrong
	for _, c := range f.curves {
		for i := range c.x {
			_ = w.Write([]string{c.name, number(c.x[i]), number(c.y[i])})
		}
	}
	w.Flush()
	return errors.Join(w.Error(), out.Close())
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// The table of a page: what follows the marker.
const (
	marker     = "<!-- table -->"
	tableTitle = "| figure | what | paper | ours |\n|---|---|---|---|\n"
)

// table is the rows of the figure in Markdown.
func (f *figure) table() string {
	var b strings.Builder
	for _, r := range f.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.id, r.what, r.paper, r.ours)
	}
	return b.String()
}

// errMarker is that a page has no place for a table.
var errMarker = errors.New("no line " + marker + ": put one where the table shall begin")

// replaceRows returns a page in which the rows of a figure are these. Rows of other figures
// stay; figures stand in their order.
func replaceRows(page, id, rows string) (string, error) {
	head, tail, found := strings.Cut(page, marker)
	if !found {
		return "", errMarker
	}
	byID := map[string]string{}
	for line := range strings.Lines(tail) {
		for _, other := range ids {
			if strings.HasPrefix(line, "| "+other+" |") {
				byID[other] += line
			}
		}
	}
	byID[id] = rows
	var b strings.Builder
	b.WriteString(head + marker + "\n" + tableTitle)
	for _, other := range ids {
		b.WriteString(byID[other])
	}
	return b.String(), nil
}
