package main

import (
	"errors"
	"fmt"
	"image/color"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a graph without its legend, and the space between things and around them.
const (
	width  = 18 * vg.Centimeter
	height = 11 * vg.Centimeter
	gap    = vg.Length(8)
)

// colors has one for each curve of a figure, paperColors one for each that a paper states.
var (
	colors = []color.RGBA{
		{31, 119, 180, 255}, {255, 127, 14, 255}, {44, 160, 44, 255}, {214, 39, 40, 255},
		{148, 103, 189, 255}, {140, 86, 75, 255}, {227, 119, 194, 255}, {23, 190, 207, 255},
		{188, 189, 34, 255}, {0, 60, 120, 255}, {120, 200, 120, 255}, {255, 180, 160, 255},
	}
	paperColors = []color.RGBA{{0, 0, 0, 255}, {110, 110, 110, 255}, {170, 170, 170, 255}}
)

// draw writes a graph with its legend below, where it hides no curve.
func (f *figure) draw(path string) error {
	p, legend := plot.New(), plot.NewLegend()
	legend.Left, legend.YPosition = true, draw.PosCenter
	legend.Padding = gap / 2
	p.Title.Text = linesOf(f.title, p.Title.TextStyle, width-12*gap)
	p.X.Label.Text, p.Y.Label.Text = f.xLabel, f.yLabel
	if f.logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		p.X.Label.Text += logarithmicAxis
	}
	if f.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		p.Y.Label.Text += logarithmicAxis
	}
	p.Y.Label.Text = linesOf(p.Y.Label.Text, p.Y.Label.TextStyle, height-12*gap)
	shades, err := f.shades()
	if err != nil {
		return fmt.Errorf("%s: %w", f.id, err)
	}
	for i, s := range f.series {
		if err := s.draw(p, &legend, shades[i]); err != nil {
			return fmt.Errorf("%s, %s: %w", f.id, s.name, err)
		}
	}
	rows := legend.Rectangle(draw.New(vgsvg.New(width, height))).Size().Y + gap
	canvas := vgsvg.New(width, height+rows)
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	p.Draw(draw.Crop(whole, gap/2, -3*gap, rows, -gap/2))
	legend.Draw(draw.Crop(whole, gap, 0, gap/2, -height))
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = canvas.WriteTo(out)
	return errors.Join(err, out.Close())
}

// logarithmicAxis is a part of the label of an axis on which a logarithm is a straight line.
const logarithmicAxis = " (logarithmic axis)"

// otherFonts is how much wider a text may be where the font of the file, Liberation Serif, is not
// installed: DejaVu Serif is 1.25 times as wide.
const otherFonts = 1.3

// linesOf returns a text in as many lines as it needs to be within a width in any font.
func linesOf(text string, style draw.TextStyle, most vg.Length) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if longer := line + " " + word; line != "" && style.Width(longer)*otherFonts > most {
			lines = append(lines, line)
			line = word
			continue
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

// shades returns a color for each series, no two of them equal.
func (f *figure) shades() (shades []color.RGBA, err error) {
	ours, papers := 0, 0
	for _, s := range f.series {
		if s.paper && papers < len(paperColors) {
			shades = append(shades, paperColors[papers])
			papers++
		} else if !s.paper && ours < len(colors) {
			shades = append(shades, colors[ours])
			ours++
		} else {
			return nil, fmt.Errorf("%d series, and no color is left for %q", len(f.series), s.name)
		}
	}
	return shades, nil
}

func (s *series) draw(p *plot.Plot, legend *plot.Legend, shade color.RGBA) error {
	xy := make(plotter.XYs, len(s.x))
	for i := range s.x {
		xy[i] = plotter.XY{X: s.x[i], Y: s.y[i]}
	}
	line, points, err := plotter.NewLinePoints(xy)
	if err != nil {
		return err
	}
	if s.paper {
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		points.Shape = draw.CrossGlyph{}
	}
	line.Color, points.Color = shade, shade
	if s.line {
		p.Add(line, points)
		legend.Add(s.name, line, points)
	} else {
		p.Add(points)
		legend.Add(s.name, points)
	}
	return nil
}
