package main

import (
	"encoding/csv"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// A label is a text of an SVG file: the corners of its box, and the last color before it.
type label struct {
	text                     string
	left, right, top, bottom float64
	size                     float64
	stroke                   string
}

// A sheet is the size of an SVG file, and its texts.
type sheet struct {
	width, height float64
	labels        []label
}

var (
	placeOf  = regexp.MustCompile(`(rotate|scale|translate)\(([-\d.]+)(?:, ([-\d.]+))?\)`)
	sizeOf   = regexp.MustCompile(`font-size:([\d.]+)px`)
	strokeOf = regexp.MustCompile(`stroke:(#[0-9A-F]{6})`)
)

// A matrix maps a place (x, y) to (ax+cy+e, bx+dy+f), as in SVG.
type matrix struct{ a, b, c, d, e, f float64 }

func (m matrix) then(t matrix) matrix {
	return matrix{m.a*t.a + m.c*t.b, m.b*t.a + m.d*t.b, m.a*t.c + m.c*t.d, m.b*t.c + m.d*t.d, m.a*t.e + m.c*t.f + m.e, m.b*t.e + m.d*t.f + m.f}
}

func (m matrix) at(x, y float64) (float64, float64) { return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f }

func (m matrix) transform(attribute string) matrix {
	for _, part := range placeOf.FindAllStringSubmatch(attribute, -1) {
		x, _ := strconv.ParseFloat(part[2], 64)
		y, _ := strconv.ParseFloat(part[3], 64)
		switch part[1] {
		case "rotate":
			sin, cos := math.Sincos(x * math.Pi / 180)
			m = m.then(matrix{cos, sin, -sin, cos, 0, 0})
		case "scale":
			m = m.then(matrix{a: x, d: y})
		case "translate":
			m = m.then(matrix{1, 0, 0, 1, x, y})
		}
	}
	return m
}

// readSheet reads the texts of an SVG file of gonum's.
func readSheet(t *testing.T, in io.Reader) (s sheet) {
	t.Helper()
	stack, stroke := []matrix{{a: 1, d: 1}}, ""
	decoder := xml.NewDecoder(in)
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			attributes := map[string]string{}
			for _, a := range token.Attr {
				attributes[a.Name.Local] = a.Value
			}
			here := stack[len(stack)-1].transform(attributes["transform"])
			stack = append(stack, here)
			switch token.Name.Local {
			case "svg":
				box := strings.Fields(attributes["viewBox"])
				s.width, _ = strconv.ParseFloat(box[2], 64)
				s.height, _ = strconv.ParseFloat(box[3], 64)
			case "path":
				if found := strokeOf.FindStringSubmatch(attributes["style"]); found != nil {
					stroke = found[1]
				}
			case "text":
				var text string
				if err := decoder.DecodeElement(&text, &token); err != nil {
					t.Fatal(err)
				}
				stack = stack[:len(stack)-1]
				s.labels = append(s.labels, labelOf(text, attributes, here, stroke))
			}
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		}
	}
}

func labelOf(text string, attributes map[string]string, m matrix, stroke string) label {
	x, _ := strconv.ParseFloat(attributes["x"], 64)
	y, _ := strconv.ParseFloat(attributes["y"], 64)
	size, _ := strconv.ParseFloat(sizeOf.FindStringSubmatch(attributes["style"])[1], 64)
	style := plot.New().Title.TextStyle
	style.Font.Size = vg.Length(size)
	wide := float64(style.Width(text)) * otherFonts
	x1, y1 := m.at(x, y)
	x2, y2 := m.at(x+wide, y-size*0.7)
	return label{text: text, left: min(x1, x2), right: max(x1, x2), top: min(y1, y2), bottom: max(y1, y2), size: size, stroke: stroke}
}

func (s sheet) find(t *testing.T, text string) label {
	t.Helper()
	i := slices.IndexFunc(s.labels, func(l label) bool { return l.text == text })
	if i < 0 {
		t.Fatalf("no text %q", text)
	}
	return s.labels[i]
}

// check reports texts that are cut off, a legend that is not below the plot, equal colors, and an
// axis without its label.
func (s sheet) check(t *testing.T, xLabel, yLabel string, names []string) {
	t.Helper()
	for _, l := range s.labels {
		if l.left < 0 || l.right > s.width || l.top < 0 || l.bottom > s.height {
			t.Errorf("%q from (%.0f, %.0f) to (%.0f, %.0f) is not within %.0f x %.0f", l.text, l.left, l.top, l.right, l.bottom, s.width, s.height)
		}
	}
	starts := func(begin string) func(l label) bool {
		return func(l label) bool { return strings.HasPrefix(begin+logarithmicAxis, l.text) && l.text != "" }
	}
	x := slices.IndexFunc(s.labels, starts(xLabel))
	if x < 0 || !slices.ContainsFunc(s.labels, starts(yLabel)) {
		t.Fatalf("an axis has no label: want %q and %q", xLabel, yLabel)
	}
	colorsSeen := map[string]string{}
	for _, name := range names {
		l := s.find(t, name)
		if l.top < s.labels[x].bottom {
			t.Errorf("%q is not below the plot", name)
		}
		if other, taken := colorsSeen[l.stroke]; taken {
			t.Errorf("%q and %q have one color", name, other)
		}
		colorsSeen[l.stroke] = name
	}
}

// TestLayout draws a figure with the longest title, many series and values at the edges.
func TestLayout(t *testing.T) {
	f := &figure{id: "layout", title: "RR-9024, Fig. 7: " + strings.Repeat("a title that is longer than a line, ", 5), xLabel: "nodes", yLabel: "seconds", logX: true}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		f.add("curve "+name, true).at(1, 1)
		f.series[len(f.series)-1].at(1_000_000, 1_000_000)
	}
	f.stated("one", []float64{1, 10}, []float64{1, 1})
	f.stated("two", []float64{1, 10}, []float64{2, 2})
	f.checkDrawing(t)
	for range colors {
		f.add("one too many", true).at(1, 1)
	}
	if err := f.draw(filepath.Join(t.TempDir(), "layout.svg")); err == nil {
		t.Error("two curves got one color")
	}
}

func (f *figure) checkDrawing(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), f.id+".svg")
	if err := f.draw(path); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range f.series {
		names = append(names, s.name)
	}
	checkFile(t, path, f.xLabel, f.yLabel, names)
}

func checkFile(t *testing.T, path, xLabel, yLabel string, names []string) {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	readSheet(t, in).check(t, xLabel, yLabel, names)
}

// TestLayoutOfFiles checks the figures in out, beside their CSV files.
func TestLayoutOfFiles(t *testing.T) {
	paths, err := filepath.Glob("out/*.csv")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d figures, %v", len(paths), err)
	}
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".csv")
		t.Run(id, func(t *testing.T) {
			in, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			rows, err := csv.NewReader(in).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, row := range rows[1:] {
				if !slices.Contains(names, row[0]) {
					names = append(names, row[0])
				}
			}
			checkFile(t, strings.TrimSuffix(path, ".csv")+".svg", rows[0][1], rows[0][2], names)
		})
	}
}
