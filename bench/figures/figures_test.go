package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestBoundOfTheorem1 is the formula as RR-9024 prints its parts: R(1) <= 2δ+τ, and
// B(n) = 8τ log n for each of f(f+1)/2 broadcasts.
func TestBoundOfTheorem1(t *testing.T) {
	if got, want := stabilisation(1024, 1, 60, 1e-6), 120+1e-6+80e-6; math.Abs(got-want) > 1e-12 {
		t.Errorf("T(1) = %v, want %v", got, want)
	}
	if got, want := lowLat.bound(256000, 16), 272*mono.Second; got < want || got > want+30*mono.Millisecond {
		t.Errorf("T(16) among 256,000 is %v, want just above %v", got, want)
	}
}

// FuzzFarm: any text is refused, or is curves.
func FuzzFarm(f *testing.F) {
	f.Add("curve,seconds,jobs done\na,1,2\nb,1,2\nc,2,3\na,2,9\n")
	f.Add("curve,seconds,jobs done\na,x,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		var g figure
		if g.parseFarm(strings.NewReader(text)) != nil {
			return
		}
		for _, s := range g.series {
			if len(s.x) == 0 || len(s.x) != len(s.y) {
				t.Errorf("curve %q has %d and %d places", s.name, len(s.x), len(s.y))
			}
		}
	})
}

// TestRisk compares with the sum from below where that is exact enough.
func TestRisk(t *testing.T) {
	for _, c := range []struct {
		f       int
		rate, t float64
	}{{0, 1, 0.5}, {2, 0.5, 3}, {5, 2, 2}} {
		x, below, term := c.rate*c.t, 0.0, math.Exp(-c.rate*c.t)
		for k := 0; k <= c.f; k++ {
			below += term
			term *= x / float64(k+1)
		}
		if got := risk(c.f, c.rate, c.t); math.Abs(got-(1-below)) > 1e-9 {
			t.Errorf("risk(%d, %v, %v) = %v, want %v", c.f, c.rate, c.t, got, 1-below)
		}
	}
}

// TestMergeRows: a figure that is drawn alone takes the place of its rows, and a new one comes
// last.
func TestMergeRows(t *testing.T) {
	const old = "| a1 | x |\n| b | x |\n| b | y |\n| c | x |\n"
	for rows, want := range map[string]string{
		"| b | z |\n": "| a1 | x |\n| b | z |\n| c | x |\n",
		"| d | z |\n": old + "| d | z |\n",
		"":            old,
	} {
		if got := mergeRows(old, rows); got != want {
			t.Errorf("%q", got)
		}
	}
}

// TestShrink: the more processes are lost the longer a shrink takes, and a repair has a shrink
// inside.
func TestShrink(t *testing.T) {
	one, many := newGroup(darter, 64, flat).shrink([]int{5}), newGroup(darter, 64, flat).shrink(shapes[0].of(64, 32))
	if notices := 32 * darter.overhead; many <= one || many <= notices {
		t.Errorf("32 lost: %v, one: %v; to take the notices alone: %v", many, one, notices)
	}
	if whole := newGroup(darter, 64, flat).repair([]int{5}); whole <= 2*one {
		t.Errorf("repair: %v, shrink: %v", whole, one)
	}
}

// TestSpreadIsFirstArrival compares the flood with all messages carried one by one.
func TestSpreadIsFirstArrival(t *testing.T) {
	for _, n := range []int{2, 3, 7, 64, 100} {
		w := newWorld(lowLat, n, uint64(n))
		w.now = 1000
		w.floods = 1
		end := w.spread(n / 2)
		arrival, sent := map[int]mono.Time{n / 2: w.now}, map[int]bool{}
		informant := map[int]int{n / 2: -1}
		for len(sent) < len(arrival) { // the first to receive sends next: simple and slow
			first := -1
			for rank, at := range arrival {
				if !sent[rank] && (first < 0 || at < arrival[first]) {
					first = rank
				}
			}
			sent[first] = true
			w.graph.via[first] = int32(informant[first])
			w.relay(first, arrival[first], func(from, to int, at mono.Time) {
				if was, known := arrival[to]; !known || at < was {
					arrival[to], informant[to] = at, from
				}
			})
		}
		last := mono.Time(0)
		for rank := range n {
			last = max(last, arrival[rank])
			if w.graph.arrival[rank] != arrival[rank] {
				t.Errorf("n = %d: %d hears at %v, want %v", n, rank, w.graph.arrival[rank], arrival[rank])
			}
		}
		if end != last || end.Sub(w.now) > mono.Duration(8*float64(w.tau)*math.Log2(float64(n)))+w.tau {
			t.Errorf("n = %d: all know after %v, want %v", n, end.Sub(w.now), last.Sub(w.now))
		}
	}
}

// TestAgreementCosts counts the costs of a chain of three by hand: 3 sends UP to 2, 2 to 1, 1
// decides, and back.
func TestAgreementCosts(t *testing.T) {
	m := machine{overhead: 10, between: 100, within: 100, perNode: 1}
	chain := func(p int) int { return p - 1 }
	for n, want := range map[int]mono.Duration{1: 0, 2: 240, 3: 480} {
		got := newGroup(m, n, chain).agree(rankset.Set{})
		if n > 1 && got != want {
			t.Errorf("a chain of %d agrees in %v, want %v", n, got, want)
		}
	}
}

// TestInPhase: a death right after a heartbeat that all send together is known after a
// timeout, not earlier; with random phases half a period earlier on average.
func TestInPhase(t *testing.T) {
	s := lowLat
	s.inPhase = true
	o := run{}.stabilise(s, 64, 3, func(w *world, rng *rand.Rand, from mono.Time) {
		w.kill(rng.IntN(64), mono.Time(10*s.timeout).Add(s.tau))
	})
	if math.Abs(o.all-1) > 1e-4 {
		t.Errorf("known after %v s, want a timeout of 1 s", o.all)
	}
}

// TestTreesAreTrees: parents come before children, in every tree that is drawn.
func TestTreesAreTrees(t *testing.T) {
	for _, tree := range trees {
		for p := range 100 {
			if up := tree.parent(p); (p == 0) != (up == -1) || up >= p || up < -1 {
				t.Errorf("%s: parent of %d is %d", tree.name, p, up)
			}
		}
	}
}

// TestLogFit fits a curve that is one.
func TestLogFit(t *testing.T) {
	a, b, r2 := logFit([]float64{2, 4, 16, 64}, []float64{5, 8, 14, 20})
	if math.Abs(a-3) > 1e-9 || math.Abs(b-2) > 1e-9 || math.Abs(r2-1) > 1e-9 {
		t.Errorf("%v log x + %v, R² %v", a, b, r2)
	}
}

// TestFilesAreWritten draws the one figure that takes no time.
func TestFilesAreWritten(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "table.md")
	if err := os.WriteFile(table, []byte("head\n"+marker+"\nold\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is a table
		if err := drawAll(dir, "ring3", table, run{quick: true}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(table)
	if n := strings.Count(string(text), "| ring3 |"); err != nil || n != 2 || strings.Contains(string(text), "\nold") || strings.Count(string(text), title) != 1 {
		t.Errorf("%v, %d rows of ring3, want 2:\n%s", err, n, text)
	}
	for _, name := range []string{"ring3.csv", "ring3.svg", "table.md"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChenByHand: at a detection time of 1.5 s one lost beat is a mistake, so there is one in
// 101 s; the detector that remembers arrivals does not make fewer than a tenth more.
func TestChenByHand(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	if got := recurrenceNFDS(rng, 2_000_000, 0.5); math.Abs(got/101.01-1) > 0.03 {
		t.Errorf("NFD-S: a mistake each %.1f s, want 101", got)
	}
	if got := recurrenceRule(rng, 500_000, 1.5); math.Abs(got/101.01-1) > 0.1 {
		t.Errorf("NFD-E: a mistake each %.1f s, want 101", got)
	}
}

// TestAnHour: on a network of one cluster nobody is suspected, and beats are as rare as possible:
// three within 30 s.
func TestAnHour(t *testing.T) {
	got := observeForAnHour(8, 8)
	if got.mistakes != 0 || got.accuracy != 1 {
		t.Errorf("%d suspicions, accuracy %v", got.mistakes, got.accuracy)
	}
	if got.period < 8 || got.period > 10 {
		t.Errorf("a beat each %.1f s", got.period)
	}
}

// TestRivalsByHand: where nothing is lost and a beat takes 10 ms nobody is suspected, and a
// fixed timeout detects after itself and the 10 ms.
func TestRivalsByHand(t *testing.T) {
	beats := lossy(0, func(*rand.Rand, int) float64 { return 0.01 })(rand.New(rand.NewPCG(1, 1)), 1000)
	for _, r := range rivals {
		detect, mistakes := play(beats, r.make(2))
		if mistakes != 0 || detect < 2 || detect > 3 {
			t.Errorf("%s: %d mistakes, %v s to detect", r.name, mistakes, detect)
		}
	}
	if detect, _ := play(beats, rivals[1].make(2)); math.Abs(detect-2.01) > 1e-9 {
		t.Errorf("a timeout of 2 s detects in %v s", detect)
	}
	beats[500].came, beats[501].came = math.Inf(1), math.Inf(1)
	for _, r := range rivals {
		if _, mistakes := play(beats, r.make(2)); mistakes != 1 {
			t.Errorf("%s: %d mistakes by an outage of two beats", r.name, mistakes)
		}
	}
}
