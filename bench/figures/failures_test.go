package main

import (
	"slices"
	"testing"
)

// TestFailuresCanFail: with values as the paper has them all claims of Figure 10, right, hold, and
// each fails with a wrong one.
func TestFailuresCanFail(t *testing.T) {
	failures := []float64{1, 2, 4, 8}
	draw := func(change func(*afterFailures)) func(...*figure) {
		return func(f ...*figure) {
			c := afterFailures{of: "6000 processes", without: 80, detecting: at(failures, 200, 300, 500, 900), later: at(failures, 80, 80, 81, 82), state: f[0].of}
			change(&c)
			c.judge()
		}
	}
	checkPlanted(t, draw(func(*afterFailures) {}), []planted{
		{"80 ms after eight failures", "agreement after failures", draw(func(c *afterFailures) { c.detecting = at(failures, 200, 300, 500, 80_000) })},
		{"no growth", "growth with the failures", draw(func(c *afterFailures) { c.detecting = at(failures, 200, 200, 200, 200) })},
		{"logarithmic growth", "growth with the failures", draw(func(c *afterFailures) { c.detecting = at(failures, 200, 600, 800, 900) })},
		{"later agreements take twice the time", "later agreements", draw(func(c *afterFailures) { c.later = at(failures, 80, 80, 81, 160) })},
	})
}

// TestFailuresOfRanks: the same wrong values of real processes are "no, see above", and another
// number of curves is "NO".
func TestFailuresOfRanks(t *testing.T) {
	failures := []float64{1, 2, 4, 8}
	for _, c := range []struct {
		detecting []float64
		want      verdict
	}{{[]float64{200, 300, 500, 900}, holds}, {[]float64{2000, 900, 500, 300}, differs}} {
		f := &figure{series: []*series{at(failures, 80, 80, 80, 80), at(failures, c.detecting...), at(failures, 80, 80, 80, 80), at(failures, 80, 80, 80, 80)}}
		f.judgeFailures()
		if len(f.claims) != 3 || f.claims[0].holds != c.want || f.claims[1].holds != c.want || f.claims[2].holds != holds {
			t.Errorf("%v: %+v", c.detecting, f.claims)
		}
		f.series, f.claims = slices.Clone(f.series[:3]), nil
		f.judgeFailures()
		if len(f.claims) != 1 || f.claims[0].holds != fails {
			t.Errorf("three curves: %+v", f.claims)
		}
	}
}
