package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// A figure is one graph with its data and the values for comparison.
type figure struct {
	id, title, xLabel, yLabel string
	logX, logY                bool
	series                    []*series
	claims                    []claim
	decisions                 []decision // of the claims that of and but state
}

// A series is one curve. Values of the paper are drawn dashed, with crosses.
type series struct {
	name  string
	paper bool
	line  bool
	x, y  []float64
}

// A claim is a stated value beside ours.
type claim struct {
	what, paper, ours string
	holds             verdict
}

// A decision is how a claim was decided, for a test that plants wrong values.
type decision struct {
	claim  int // its place among the claims of the figure
	check  func(v []float64) bool
	values []float64 // the simulated ones
}

// A verdict is whether a claim holds here.
type verdict string

// The verdicts. Differs is for claims that are known to fail here; README.md explains why.
const (
	holds   verdict = "yes"
	fails   verdict = "NO"
	differs verdict = "no, see above"
	untold  verdict = "-" // no paper states the value, or the value follows from an assumption
)

func (f *figure) add(name string, line bool) *series {
	s := &series{name: name, line: line}
	f.series = append(f.series, s)
	return s
}

// stated adds a curve that the paper gives in words.
func (f *figure) stated(name string, x, y []float64) {
	f.series = append(f.series, &series{name: "paper: " + name, paper: true, line: len(x) > 1, x: x, y: y})
}

func (f *figure) claim(ok bool, what, paper, ours string, args ...any) {
	f.claims = append(f.claims, claim{what, paper, fmt.Sprintf(ours, args...), fails})
	if ok {
		f.claims[len(f.claims)-1].holds = holds
	}
}

// differs states a value that is known to differ from the paper's. The value is still a claim: if
// the claim holds one day, the table shows this.
func (f *figure) differs(ok bool, what, paper, ours string, args ...any) {
	f.claim(ok, what, paper, ours, args...)
	if !ok {
		f.claims[len(f.claims)-1].holds = differs
	}
}

// assumed states a value that follows from an assumption of ours, and so has no verdict.
func (f *figure) assumed(what, paper, ours string, args ...any) {
	f.claims = append(f.claims, claim{what, paper, fmt.Sprintf(ours, args...), untold})
}

// A values lists simulated values that a claim prints and checks.
type values []float64

// of states a value of a paper beside simulated ones. check decides on v alone, so that a test can
// plant wrong values and see that the claim fails. The place in the paper belongs to its value.
func (f *figure) of(v values, check func(v []float64) bool, what, paper, ours string) {
	args := make([]any, len(v))
	for i := range v {
		args[i] = v[i]
	}
	f.claim(check(v), what, paper, ours, args...)
	f.decisions = append(f.decisions, decision{len(f.claims) - 1, check, v})
}

// but is of for a value that is known to differ from that of the paper, as differs is for claim.
func (f *figure) but(v values, check func(v []float64) bool, what, paper, ours string) {
	f.of(v, check, what, paper, ours)
	if c := &f.claims[len(f.claims)-1]; c.holds == fails {
		c.holds = differs
	}
}

// near reports whether a value is within a share of the expected one.
func near(got, want, share float64) bool { return math.Abs(got/want-1) <= share }

// spreadOf returns the greatest of some values over the least.
func spreadOf(v []float64) float64 { return slices.Max(v) / slices.Min(v) }

func (s *series) at(x, y float64) { s.x, s.y = append(s.x, x), append(s.y, y) }

func (s *series) last() float64 { return s.y[len(s.y)-1] }

// write makes id.csv and id.svg in dir.
func (f *figure) write(dir string) error {
	if err := f.writeCSV(filepath.Join(dir, f.id+".csv")); err != nil {
		return err
	}
	return f.draw(filepath.Join(dir, f.id+".svg"))
}

func (f *figure) writeCSV(path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(out)
	_ = w.Write([]string{"series", f.xLabel, f.yLabel}) // w.Error returns the error
	for _, s := range f.series {
		for i := range s.x {
			_ = w.Write([]string{s.name, number(s.x[i]), number(s.y[i])})
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return out.Close()
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }
