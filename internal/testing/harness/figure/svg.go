package figure

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The size of a drawing and of its margins, in pixels. The legend is between title and graph. It
// has one line for each curve, and makes the drawing longer.
const (
	width, graph = 720, 400
	left, right  = 70, 20
	head, foot   = 34, 50
	legendLine   = 16
	legendX      = left + 12
	xValuesMax   = 12 // above this number, ticks are at round values
)

// colors can be distinguished with red-green colour blindness, too (Okabe and Ito).
var colors = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"}

// An axis maps values to pixels.
type axis struct {
	low, high float64 // after log10, if log
	from, to  float64 // pixels
	log       bool
}

func newAxis(values []float64, log bool, from, to float64) axis {
	a := axis{low: math.Inf(1), high: math.Inf(-1), from: from, to: to, log: log}
	for _, v := range values {
		if log && v <= 0 {
			continue // not drawn
		}
		a.low, a.high = min(a.low, a.scale(v)), max(a.high, a.scale(v))
	}
	if a.low > a.high {
		a.low, a.high = 0, 1
	}
	if !log {
		a.low, a.high = min(a.low, 0), max(a.high, 0)
	}
	if a.high-a.low < 1e-9 {
		a.low, a.high = a.low-0.5, a.high+0.5
	}
	return a
}

func (a axis) scale(v float64) float64 {
	if a.log {
		return math.Log10(v)
	}
	return v
}

func (a axis) pixel(v float64) float64 {
	return a.from + (a.scale(v)-a.low)/(a.high-a.low)*(a.to-a.from)
}

// ticks returns round values within the axis: 1, 2 and 5 of each decade, or five to ten equal
// steps.
func (a axis) ticks() (all []float64) {
	if a.log {
		for e := math.Floor(a.low); e <= a.high; e++ {
			for _, m := range []float64{1, 2, 5} {
				if v := m * math.Pow(10, e); a.scale(v) >= a.low-1e-9 && a.scale(v) <= a.high+1e-9 {
					all = append(all, v)
				}
			}
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/5)))
	for _, m := range []float64{2, 5, 10} {
		if (a.high-a.low)/step <= 10 {
			break
		}
		step *= m / map[float64]float64{2: 1, 5: 2, 10: 5}[m]
	}
	for i := math.Ceil(a.low / step); i*step <= a.high+1e-9; i++ {
		all = append(all, i*step)
	}
	return all
}

// svg draws the figure. The x axis is logarithmic unless LinearX is set, because most figures
// double a count or a period from point to point. The ticks of a logarithmic x axis are the values
// of the points, if these are few.
func (f *Figure) svg() string {
	var xs, ys []float64
	for _, c := range f.curves {
		xs, ys = append(xs, c.X...), slices.Concat(ys, c.Y, c.low)
	}
	top := float64(head + len(f.curves)*legendLine)
	low := top + graph
	height := int(low) + foot
	x, y := newAxis(xs, !f.LinearX, left, width-right), newAxis(ys, f.LogY, low, top)
	slices.Sort(xs)
	if xs = slices.Compact(xs); f.LinearX || len(xs) > xValuesMax {
		xs = x.ticks()
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", width, height)
	put := func(px, py float64, more, text string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", px, py, more, html.EscapeString(text))
	}
	rule := func(x1, y1, x2, y2 float64, more string) {
		fmt.Fprintf(&b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, more)
	}
	for _, v := range xs {
		rule(x.pixel(v), top, x.pixel(v), low, `stroke="#ddd"`)
		put(x.pixel(v), low+16, `text-anchor="middle"`, number(v))
	}
	for _, v := range y.ticks() {
		rule(left, y.pixel(v), width-right, y.pixel(v), `stroke="#ddd"`)
		put(left-6, y.pixel(v)+4, `text-anchor="end"`, number(v))
	}
	put(width/2, 20, `text-anchor="middle" font-size="14"`, f.Title)
	put(width/2, low+foot-12, `text-anchor="middle"`, f.XLabel)
	put(16, top+graph/2, fmt.Sprintf(`text-anchor="middle" transform="rotate(-90 16 %.0f)"`, top+graph/2), f.YLabel)
	shades := map[*Curve]string{}
	for i, c := range f.curves {
		shade, dash := colors[len(shades)%len(colors)], ""
		switch {
		case c.stated:
			shade, dash = "black", `stroke-dasharray="5 3"`
		case c.of != nil:
			shade = shades[c.of]
		default:
			shades[c] = shade
		}
		c.draw(&b, x, y, shade, dash)
		at := float64(head + (i+1)*legendLine - 6)
		fmt.Fprintf(&b, "<circle cx=\"%d\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", legendX, at-4, shade)
		put(legendX+10, at, "", c.Name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (c *Curve) draw(b *strings.Builder, x, y axis, shade, dash string) {
	if c.low != nil {
		c.drawBand(b, x, y, shade)
		return
	}
	var path []string
	for i := range c.X {
		if x.log && c.X[i] <= 0 || y.log && c.Y[i] <= 0 {
			continue
		}
		px, py := x.pixel(c.X[i]), y.pixel(c.Y[i])
		path = append(path, fmt.Sprintf("%.1f,%.1f", px, py))
		if !c.stated {
			fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\" fill-opacity=\"0.7\"/>\n", px, py, shade)
		}
	}
	if c.line {
		fmt.Fprintf(b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" %s/>\n", strings.Join(path, " "), shade, dash)
	}
}

// drawBand follows the upper edge, and then the lower edge back.
func (c *Curve) drawBand(b *strings.Builder, x, y axis, shade string) {
	var path []string
	for i := range c.X {
		path = append(path, fmt.Sprintf("%.1f,%.1f", x.pixel(c.X[i]), y.pixel(c.Y[i])))
	}
	for i := len(c.X) - 1; i >= 0; i-- {
		path = append(path, fmt.Sprintf("%.1f,%.1f", x.pixel(c.X[i]), y.pixel(c.low[i])))
	}
	fmt.Fprintf(b, "<polygon points=\"%s\" fill=\"%s\" fill-opacity=\"0.15\"/>\n", strings.Join(path, " "), shade)
}
