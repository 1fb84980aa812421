// Package figure writes the figures that reproduce those of a paper: a CSV file with the data, an
// SVG file, and rows of a table in a page, which compare the paper's value with ours.
package figure

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A Figure is one graph with its data, and rows of the table.
type Figure struct {
	ID, Title, XLabel, YLabel string
	LogY                      bool
	LinearX                   bool // without it, x is logarithmic

	curves []*Curve
	rows   []row
}

// A Curve is a series of points, joined by a line or not. A curve that a paper or a rule states is
// drawn dashed. A band is the area between two lines.
type Curve struct {
	Name string
	X, Y []float64

	line, stated bool
	of           *Curve    // the curve that gives the colour, or nil
	low          []float64 // of a band: its lower edge; Y is the upper one
}

// A row compares a measured value with the paper's.
type row struct{ what, paper, ours string }

// Add adds a curve without points.
func (f *Figure) Add(name string, line bool) *Curve {
	c := &Curve{Name: name, line: line}
	f.curves = append(f.curves, c)
	return c
}

// State adds a curve that a paper or a rule states.
func (f *Figure) State(name string, x, y []float64) {
	f.curves = append(f.curves, &Curve{Name: name, line: true, stated: true, X: x, Y: y})
}

// MedianOf adds the line through the medians of a curve's points.
func (f *Figure) MedianOf(c *Curve) *Curve {
	m := f.Add(c.Name+", median", true)
	m.of = c
	m.X, m.Y = medians(c.X, c.Y)
	return m
}

// Band adds the area between two lines, in the colour of a curve.
func (f *Figure) Band(of *Curve, name string, x, low, high []float64) {
	f.curves = append(f.curves, &Curve{Name: name, of: of, X: x, low: low, Y: high})
}

// medians groups points by x, in the order in which an x comes first.
func medians(x, y []float64) (xs, ys []float64) {
	at := map[float64][]float64{}
	for i := range x {
		if at[x[i]] == nil {
			xs = append(xs, x[i])
		}
		at[x[i]] = append(at[x[i]], y[i])
	}
	for _, v := range xs {
		ys = append(ys, record.Median(at[v]))
	}
	return xs, ys
}

// Row adds a row of the table.
func (f *Figure) Row(what, paper, ours string, args ...any) {
	f.rows = append(f.rows, row{what, paper, fmt.Sprintf(ours, args...)})
}

// At adds a point.
func (c *Curve) At(x, y float64) { c.X, c.Y = append(c.X, x), append(c.Y, y) }

// A Place is the destination of figures.
type Place struct {
	IDs  []string // all that the page may have, in their order
	Dir  string   // of the CSV and SVG files
	Page string   // the page whose table has the rows, after Marker; empty: none
}

// Put writes a figure's files, prints its rows, and replaces them in the page.
func (p Place) Put(f *Figure, out io.Writer) error {
	if err := f.write(p.Dir); err != nil {
		return err
	}
	fmt.Fprint(out, f.table())
	if p.Page == "" {
		return nil
	}
	page, err := os.ReadFile(p.Page)
	if err != nil {
		return err
	}
	text, err := p.replaceRows(string(page), f.ID, f.table())
	if err != nil {
		return fmt.Errorf("%s: %w", p.Page, err)
	}
	return os.WriteFile(p.Page, []byte(text), 0o644)
}

// write makes ID.csv and ID.svg in dir.
func (f *Figure) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := f.writeCSV(filepath.Join(dir, f.ID+".csv")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, f.ID+".svg"), []byte(f.svg()), 0o644)
}

// writeCSV writes one line for each point, as bench/figures does. The edges of a band are two
// series.
func (f *Figure) writeCSV(name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(out)
	series := func(name string, x, y []float64) {
		for i := range x {
			_ = w.Write([]string{name, number(x[i]), number(y[i])}) // Flush reports errors
		}
	}
	_ = w.Write([]string{"series", f.XLabel, f.YLabel})
	for _, c := range f.curves {
		if c.low != nil {
			series(c.Name+", least", c.X, c.low)
			series(c.Name+", most", c.X, c.Y)
		} else {
			series(c.Name, c.X, c.Y)
		}
	}
	w.Flush()
	return errors.Join(w.Error(), out.Close())
}

// number formats a value for a file or an axis; minus zero is 0.
func number(x float64) string { return strconv.FormatFloat(x+0, 'g', 6, 64) }

// The table of a page, which follows the marker.
const (
	Marker     = "<!-- table -->"
	tableTitle = "| figure | subject | paper | ours |\n|---|---|---|---|\n"
)

// table returns the rows of the figure in Markdown.
func (f *Figure) table() string {
	var b strings.Builder
	for _, r := range f.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.ID, r.what, r.paper, r.ours)
	}
	return b.String()
}

// errMarker reports that a page has no place for a table.
var errMarker = errors.New("no line " + Marker + ": put one where the table shall begin")

// replaceRows returns the page with new rows of a figure. Rows of other figures stay. The figures
// stand in their order.
func (p Place) replaceRows(page, id, rows string) (string, error) {
	head, tail, found := strings.Cut(page, Marker)
	if !found {
		return "", errMarker
	}
	byID := map[string]string{}
	for line := range strings.Lines(tail) {
		for _, other := range p.IDs {
			if strings.HasPrefix(line, "| "+other+" |") {
				byID[other] += line
			}
		}
	}
	byID[id] = rows
	var b strings.Builder
	b.WriteString(head + Marker + "\n" + tableTitle)
	for _, other := range p.IDs {
		b.WriteString(byID[other])
	}
	return b.String(), nil
}
