package figure

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func someFigure() *Figure {
	f := &Figure{ID: "D1", Title: "a < b & c", XLabel: "nodes", YLabel: "ms", LogY: true}
	c := f.Add("known", false)
	c.At(2, 1)
	c.At(4, 100)
	c.At(4, 300)
	f.MedianOf(c)
	f.State("paper", []float64{2, 4}, []float64{5, 5})
	f.Row("what", "5 ms", "%d of %d", 1, 2)
	return f
}

func TestFigureFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	require.NoError(t, someFigure().write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "D1.csv"))
	require.NoError(t, err)
	assert.Equal(t, "series,nodes,ms\nknown,2,1\nknown,4,100\nknown,4,300\n\"known, median\",2,1\n\"known, median\",4,200\npaper,2,5\npaper,4,5\n", string(text))
	_, err = os.Stat(filepath.Join(dir, "D1.svg"))
	assert.NoError(t, err)
	assert.Error(t, someFigure().write(filepath.Join(dir, "D1.csv")), "a file is no folder")
}

// TestPut: the files, the rows, and the rows in the page.
func TestPut(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	p := Place{IDs: []string{"D1"}, Dir: dir}
	require.NoError(t, p.Put(someFigure(), &out))
	assert.Equal(t, someFigure().table(), out.String())
	assert.FileExists(t, filepath.Join(dir, "D1.csv"))
	p.Page = filepath.Join(dir, "page.md")
	require.ErrorIs(t, p.Put(someFigure(), io.Discard), os.ErrNotExist)
	require.NoError(t, os.WriteFile(p.Page, []byte("no place"), 0o600))
	require.ErrorIs(t, p.Put(someFigure(), io.Discard), errMarker)
	require.NoError(t, os.WriteFile(p.Page, []byte("# Head\n"+Marker+"\n"), 0o600))
	require.NoError(t, p.Put(someFigure(), io.Discard))
	text, err := os.ReadFile(p.Page)
	require.NoError(t, err)
	assert.Equal(t, "# Head\n"+Marker+"\n"+tableTitle+someFigure().table(), string(text))
}

// elements counts the elements of a document, and fails if the document is not well-formed.
func elements(t *testing.T, text string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

func TestSVG(t *testing.T) {
	count := elements(t, someFigure().svg())
	assert.Equal(t, 3+2+3, count["circle"], "of each point that was measured, and of the legend")
	assert.Equal(t, 2, count["polyline"])

	// Nothing, one point, and values without a logarithm are drawings, too.
	assert.Zero(t, elements(t, (&Figure{}).svg())["circle"])
	f := &Figure{LogY: true}
	f.Add("one", true).At(3, 0)
	assert.Equal(t, 1, elements(t, f.svg())["circle"], "the legend alone")
	assert.NotContains(t, f.svg(), "NaN")
	assert.NotContains(t, f.svg(), "Inf")
}

// TestLinearX: equal steps of x are equally wide, and the first one is at 0.
func TestLinearX(t *testing.T) {
	f := &Figure{LinearX: true}
	c := f.Add("c", true)
	for x := range 5 {
		c.At(float64(x*1000), 1)
	}
	text := f.svg()
	assert.Contains(t, text, `<polyline points="70.0,50.0 227.5,50.0 385.0,50.0 542.5,50.0 700.0,50.0" `)
	assert.Contains(t, text, `<text x="70.0" y="466.0" text-anchor="middle">0</text>`)
	assert.Contains(t, text, `<text x="227.5" y="466.0" text-anchor="middle">1000</text>`)
}

// TestBand: an area in the colour of its curve, within the axes, and two series.
func TestBand(t *testing.T) {
	f := &Figure{ID: "B", XLabel: "x", YLabel: "y"}
	f.Add("other", false).At(1, 0)
	c := f.Add("c", false)
	c.At(1, 5)
	f.Band(c, "nature", []float64{1, 10}, []float64{-10, -10}, []float64{10, 10})
	text := f.svg()
	assert.Equal(t, 1, elements(t, text)["polygon"])
	// The graph begins below the title and three lines of the legend, and the band fills it.
	assert.Contains(t, text, `<polygon points="70.0,82.0 700.0,82.0 700.0,482.0 70.0,482.0" fill="`+colors[1]+`" fill-opacity="0.15"/>`)
	dir := t.TempDir()
	require.NoError(t, f.write(dir))
	csv, err := os.ReadFile(filepath.Join(dir, "B.csv"))
	require.NoError(t, err)
	assert.Equal(t, "series,x,y\nother,1,0\nc,1,5\n\"nature, least\",1,-10\n\"nature, least\",10,-10\n\"nature, most\",1,10\n\"nature, most\",10,10\n", string(csv))
}

func TestAxis(t *testing.T) {
	a := newAxis([]float64{10, 1000}, true, 0, 100)
	assert.InDelta(t, 50, a.pixel(100), 1e-9)
	ticks := a.ticks()
	require.Len(t, ticks, 7)
	assert.InDeltaSlice(t, []float64{10, 20, 50, 100, 200, 500, 1000}, ticks, 1e-6)

	a = newAxis([]float64{4, 40}, false, 100, 0)
	assert.InDelta(t, 100, a.pixel(0), 1e-9, "begins at 0")
	assert.InDelta(t, 50, a.pixel(20), 1e-9)
	assert.InDeltaSlice(t, []float64{0, 5, 10, 15, 20, 25, 30, 35, 40}, a.ticks(), 1e-9)

	a = newAxis([]float64{-4, -1}, false, 0, 100)
	assert.InDelta(t, 100, a.pixel(0), 1e-9, "ends at 0")
	assert.Equal(t, "0", number(a.ticks()[len(a.ticks())-1]))
}

// TestAxisHasSomeTicks: five to eleven, whatever the span.
func TestAxisHasSomeTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		high := rng.Float64() * []float64{1, 100, 1e6}[rng.IntN(3)]
		n := len(newAxis([]float64{0, high}, false, 0, 1).ticks())
		assert.True(t, n >= 5 && n <= 11, "%d of %g", n, high)
	}
}

func TestTable(t *testing.T) {
	assert.Equal(t, "| D1 | what | 5 ms | 1 of 2 |\n", someFigure().table())
}

func TestReplaceRows(t *testing.T) {
	p := Place{IDs: []string{"D1", "D2", "D3"}}
	page := "# Head\n\n" + Marker + "\nanything\n| D3 | third |\n| D1 | old |\n"
	got, err := p.replaceRows(page, "D1", "| D1 | a |\n| D1 | b |\n")
	require.NoError(t, err)
	want := "# Head\n\n" + Marker + "\n" + tableTitle + "| D1 | a |\n| D1 | b |\n| D3 | third |\n"
	assert.Equal(t, want, got)
	again, err := p.replaceRows(got, "D3", "| D3 | new |\n")
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(want, "third", "new", 1), again)
	_, err = p.replaceRows("no place", "D1", "")
	assert.ErrorIs(t, err, errMarker)
}

func TestMedians(t *testing.T) {
	x, y := medians([]float64{4, 2, 4, 2, 4}, []float64{9, 1, 5, 3, 7})
	assert.Equal(t, []float64{4, 2}, x)
	assert.Equal(t, []float64{7, 2}, y)
	x, y = medians(nil, nil)
	assert.Empty(t, x)
	assert.Empty(t, y)
}
