package main

import (
	"slices"
	"strings"
	"testing"
)

// TestClaimsCanFail plants wrong values for each claim about the ring and the broadcast: at least
// one of them turns its verdict. The test fails for a claim with a verdict that does not follow
// from its values, and for a claim that names no place in a paper.
func TestClaimsCanFail(t *testing.T) {
	seen := 0
	for _, entry := range all {
		if !slices.ContainsFunc([]string{"ring", "rdaemon", "scale"}, func(begin string) bool { return strings.HasPrefix(entry.name, begin) }) {
			continue
		}
		if testing.Short() && entry.name != "ring3" && entry.name != "ring6" {
			continue
		}
		for _, f := range entry.make(run{quick: true}) {
			if len(f.decisions) != len(f.claims) {
				t.Errorf("%s: %d of %d claims have no values", f.id, len(f.claims)-len(f.decisions), len(f.claims))
			}
			for _, d := range f.decisions {
				seen++
				c := f.claims[d.claim]
				if !canFail(d) {
					t.Errorf("%s: no wrong value makes %q fail", f.id, c.what)
				}
				if !strings.Contains(c.paper, "RR-9024") && !strings.Contains(c.paper, "PARCO 2019") && !strings.HasPrefix(c.paper, "(none") {
					t.Errorf("%s: %q names no place in a paper: %q", f.id, c.what, c.paper)
				}
			}
		}
	}
	t.Logf("%d claims", seen)
}

// canFail reports whether a wrong value in the place of any one makes the claim fail.
func canFail(d decision) bool {
	for i := range d.values {
		for _, factor := range []float64{0, 1.0 / 8, 0.5, 2, 8, 1000} {
			planted := slices.Clone(d.values)
			if planted[i] *= factor; d.values[i] == 0 {
				planted[i] = factor
			}
			if d.check(d.values) && !d.check(planted) {
				return true
			}
		}
	}
	return !d.check(d.values) // it fails already
}

// TestCanFail: a claim that holds for every value is found.
func TestCanFail(t *testing.T) {
	for _, c := range []struct {
		check func([]float64) bool
		want  bool
	}{
		{func([]float64) bool { return true }, false},
		{func(v []float64) bool { return v[0] > 0 }, true},
		{func(v []float64) bool { return v[1] < 10 }, true},
	} {
		if got := canFail(decision{check: c.check, values: []float64{1, 2}}); got != c.want {
			t.Errorf("got %v", got)
		}
	}
}

// TestVerdicts: a wrong value is "NO" in the table, and "no, see above" for a known difference.
func TestVerdicts(t *testing.T) {
	check := func(v []float64) bool { return near(v[0], 22, 0.03) }
	var f figure
	f.of(values{22.1}, check, "limit", "22 s", "%.1f s")
	f.of(values{50}, check, "limit", "22 s", "%.1f s")
	f.but(values{22.1}, check, "limit", "22 s", "%.1f s")
	f.but(values{50}, check, "limit", "22 s", "%.1f s")
	for i, want := range []verdict{holds, fails, holds, differs} {
		if got := f.claims[i].holds; got != want {
			t.Errorf("claim %d: %q, want %q", i, got, want)
		}
	}
}

// TestSeed: another seed makes other random numbers, and 0 those of the table.
func TestSeed(t *testing.T) {
	first, again, other := run{}.nodes(16, 3, 1, atRandom), run{}.nodes(16, 3, 1, atRandom), run{seed: 1}.nodes(16, 3, 1, atRandom)
	if first != again || first == other {
		t.Errorf("seed 0: %v and %v, seed 1: %v", first, again, other)
	}
}
