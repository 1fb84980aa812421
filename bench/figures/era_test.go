package main

import (
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestTwoPhaseCosts counts the costs of Log2phases by hand. Among two members there are a vote and
// a commit. Among four there are two levels of each, where the root takes two votes and sends two
// commits in sequence.
func TestTwoPhaseCosts(t *testing.T) {
	m := machine{overhead: 10, between: 100, within: 100, perNode: 1}
	for n, want := range map[int]mono.Duration{1: 0, 2: 240, 4: 480} {
		if got := newTwoPhase(m, n).agree(rankset.Set{}); n > 1 && got != want {
			t.Errorf("%d agree in %v, want %v", n, got, want)
		}
	}
	walking := newTwoPhase(m, 4)
	walking.entry = 1
	if got := walking.agree(rankset.Set{}); got != 480+3*4 {
		t.Errorf("with a walk before each of two votes and after the last commit: %v, want %v", got, 480+3*4)
	}
}

// TestSameCostOfAMessage: on the tree of Log2phases, era takes exactly as long without failures.
func TestSameCostOfAMessage(t *testing.T) {
	for n := 1; n <= 70; n++ {
		ours, two := newGroup(darter, n, binomial).agree(rankset.Set{}), newTwoPhase(darter, n).agree(rankset.Set{})
		if ours != two {
			t.Errorf("n = %d: era %v, Log2phases %v", n, ours, two)
		}
	}
}

// TestTwoPhaseShrinks: a shrink by Log2phases excludes exactly the dead, the root among them, and
// takes longer the more there are.
func TestTwoPhaseShrinks(t *testing.T) {
	one, many := newTwoPhase(darter, 64).shrink([]int{5}), newTwoPhase(darter, 64).shrink(shapes[0].of(64, 32))
	if many <= one {
		t.Errorf("32 lost: %v, one: %v", many, one)
	}
	g := newTwoPhase(darter, 64)
	g.kill([]int{0, 1, 40}, told)
	g.agree(rankset.Set{})
	g.expect(rankset.Of(0, 1, 40))
}

// TestMendedLinks: a message over a link that was in the tree costs no more, one over another does.
func TestMendedLinks(t *testing.T) {
	g := newGroup(darter, 64, binBin)
	g.parent, g.mended = binBin, 7
	for _, c := range []struct {
		p, q int
		want mono.Duration
	}{{16, 0, 0}, {0, 16, 0}, {17, 16, 0}, {48, 16, 0}, {48, 0, 7}, {0, 48, 7}} {
		if got := g.detour(c.p, c.q); got != c.want {
			t.Errorf("%d to %d: %v, want %v", c.p, c.q, got, c.want)
		}
	}
}

// A planted is wrong data, and the claim that must not hold then: its text begins so.
type planted struct {
	name, claim string
	draw        func(figures ...*figure)
}

// checkPlanted draws data as the paper has them, of which all claims with a verdict hold, and then
// each planted value.
func checkPlanted(t *testing.T, right func(figures ...*figure), wrong []planted) {
	t.Helper()
	rows := func(draw func(...*figure)) (all []claim) {
		fs := []*figure{{}, {}, {}}
		draw(fs...)
		for _, f := range fs {
			all = append(all, f.claims...)
		}
		return all
	}
	claims := rows(right)
	for _, c := range claims {
		if c.holds != holds && c.holds != untold {
			t.Errorf("with the data of the paper %q says %q: %s", c.what, c.holds, c.ours)
		}
		tested := c.holds == untold
		for _, w := range wrong {
			tested = tested || strings.HasPrefix(c.what, w.claim)
		}
		if !tested {
			t.Errorf("nothing is planted for %q", c.what)
		}
	}
	for _, w := range wrong {
		found := false
		for _, c := range rows(w.draw) {
			if strings.HasPrefix(c.what, w.claim) {
				found = true
				if c.holds != fails && c.holds != differs {
					t.Errorf("%s: %q says %q: %s", w.name, c.what, c.holds, c.ours)
				}
			}
		}
		if !found {
			t.Errorf("%s: no claim %q", w.name, w.claim)
		}
	}
}

// over is a curve over the sizes of Figure 2a.
func over(y func(x float64) float64) *series {
	s := &series{}
	for _, x := range []float64{16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6000} {
		s.at(x, y(x))
	}
	return s
}

// times is a curve, with each value multiplied.
func times(s *series, by float64) *series {
	scaled := &series{x: s.x}
	for _, y := range s.y {
		scaled.y = append(scaled.y, y*by)
	}
	return scaled
}

func TestGrowthCanFail(t *testing.T) {
	linear := func(x float64) float64 { return 10 + x/10 }
	draw := func(change func(*growth)) func(...*figure) {
		return func(f ...*figure) {
			c := growth{era: over(stated), reduce: over(stated), two: over(linear), binomial: over(stated), walks: over(linear)}
			change(&c)
			c.judge(f[0], darter)
		}
	}
	checkPlanted(t, draw(func(*growth) {}), []planted{
		{"era grows with n", "E7: growth of era", draw(func(c *growth) { c.era = over(linear) })},
		{"era is 10 % below the curve", "E1: the curve", draw(func(c *growth) { c.era = times(c.era, 0.9) })},
		{"era is 5 % above the fitted number", "E1: 6000", draw(func(c *growth) { c.era = times(c.era, 1.05) })},
		{"Log2phases grows with log n", "E7: growth of Log2phases", draw(func(c *growth) { c.two = over(stated) })},
		{"Log2phases is faster", "E7: era against Log2phases", draw(func(c *growth) { c.two = times(c.era, 0.9) })},
	})
}

func TestAftermathCanFail(t *testing.T) {
	draw := func(change func(*aftermath)) func(...*figure) {
		return func(f ...*figure) {
			// A slope so small that "linear" and "similar" both hold.
			slow := over(func(x float64) float64 { return 70 + x/1e4 })
			c := aftermath{without: slow, detecting: times(slow, 2), stabilising: slow, later: slow, rebalanced: slow}
			change(&c)
			c.judge(f[0])
		}
	}
	checkPlanted(t, draw(func(*aftermath) {}), []planted{
		{"stabilising grows with log n", "2c: growth of the stabilising", draw(func(c *aftermath) { c.stabilising = over(stated) })},
		{"stabilising takes a fifth more", "2c: stabilising, without", draw(func(c *aftermath) { c.stabilising = times(c.later, 1.2) })},
		{"rebalanced takes a tenth more", "2c: after it, rebalanced", draw(func(c *aftermath) { c.rebalanced = times(c.without, 1.1) })},
		{"rebalancing saves a third", "2c: one failure", draw(func(c *aftermath) { c.later = times(c.rebalanced, 1.5) })},
		{"detecting takes three times as long as the detector", "2c: detecting", draw(func(c *aftermath) { c.detecting = times(c.detecting, 3) })},
	})
}

func TestRolesCanFail(t *testing.T) {
	draw := func(change func(*roleTable)) func(...*figure) {
		return func(f ...*figure) {
			table := roleTable{size: 6000, before: stated(6000), rebalanced: stated(6000)}
			for _, c := range roleCases {
				table.detect, table.mended = append(table.detect, c.detect), append(table.mended, c.beyond)
				table.stabilise, table.later = append(table.stabilise, c.beyond*1.3), append(table.later, c.beyond)
			}
			change(&table)
			table.judge(f[0])
		}
	}
	wrong := []planted{
		{"the full node is the fastest", "Table 2d: lower", draw(func(c *roleTable) { c.later[4] = c.later[0] - 1 })},
		{"rebalanced is a tenth slower", "Table 2d: rebalanced", draw(func(c *roleTable) { c.rebalanced *= 1.1 })},
	}
	for i, c := range roleCases {
		wrong = append(wrong,
			planted{"afterwards a fifth slower", "E2-E4: failure of " + c.name, draw(func(c *roleTable) { c.later[i] *= 1.2 })},
			planted{"stabilising at twice the time", "E2-E4: failure of " + c.name, draw(func(c *roleTable) { c.stabilise[i] *= 2 })})
	}
	checkPlanted(t, draw(func(*roleTable) {}), wrong)
}

// at is a curve over the places of Figure 4a or 4b.
func at(x []float64, y ...float64) *series { return &series{x: x, y: y} }

func TestLostCanFail(t *testing.T) {
	lost := []float64{16, 64, 256, 1024}
	draw := func(era, two *series) func(...*figure) {
		return func(f ...*figure) { lostCurves{era, two}.judge(f[0]) }
	}
	right, flat := at(lost, 0.43, 0.6, 1, 2), at(lost, 6.85, 6.85, 6.85, 6.85)
	checkPlanted(t, draw(right, flat), []planted{
		{"more dead are faster", "4a: era, from", draw(at(lost, 2, 1, 0.6, 0.43), flat)},
		{"five times", "4a: time of Log2phases", draw(right, times(flat, 0.3))},
		{"era loses with 1,024 dead", "4a: absolute time", draw(at(lost, 0.43, 0.6, 1, 7), flat)},
		{"Log2phases grows", "4a: Log2phases, from", draw(right, at(lost, 6.85, 7, 8, 9))},
	})
}

func TestShapesCanFail(t *testing.T) {
	sizes := []float64{1000, 2197, 4913}
	draw := func(two ...float64) func(...*figure) {
		return func(f ...*figure) {
			shapeCurves{at(sizes, 1, 1, 1), at(sizes, two...), at(sizes, two[0]+1, two[1]+2, two[2]+5)}.judge(f[0])
		}
	}
	// With the factors of the paper its text does not hold, so each claim has data of its own.
	checkShapes := func(two []float64, claim string, want verdict) {
		f := &figure{}
		draw(two...)(f)
		for _, c := range f.claims {
			if strings.HasPrefix(c.what, claim) && c.holds != want {
				t.Errorf("%v: %q says %q, want %q", two, c.what, c.holds, want)
			}
		}
	}
	for i, n := range []string{"1000", "2197", "4913"} {
		claim, wrong := "4b: time of Log2phases by that of era, "+n, []float64{1.4, 2.3, 4.4}
		checkShapes(wrong, claim, holds)
		wrong[i] = 0.9
		checkShapes(wrong, claim, differs)
		wrong[i] = paperFactors[i] * 1.5
		checkShapes(wrong, claim, differs)
	}
	checkShapes([]float64{1.4, 2.3, 7.1}, "4b: the greatest factor", holds)
	checkShapes([]float64{1.4, 2.3, 4.4}, "4b: the greatest factor", differs)
}

func TestLFLRCanFail(t *testing.T) {
	sizes := []float64{512, 1024, 2048}
	draw := func(change func(*lflrCurves)) func(...*figure) {
		return func(f ...*figure) {
			c := lflrCurves{at(sizes, 1, 1.1, 1.2), at(sizes, 2, 4, 8), at(sizes, 1, 1.1, 1.2), at(sizes, 2, 4, 8), []int{512, 1024, 2048}, 90, 100}
			change(&c)
			c.judge(f[0], f[1], f[2])
		}
	}
	checkPlanted(t, draw(func(*lflrCurves) {}), []planted{
		{"the repair of era grows faster", "5a: repair", draw(func(c *lflrCurves) { c.repair = at(sizes, 1, 3, 7) })},
		{"era takes longer", "5b: all", draw(func(c *lflrCurves) { c.agree = at(sizes, 9, 9, 9) })},
		{"era saves nothing", "5c: the whole", draw(func(c *lflrCurves) { c.all = 100 })},
	})
}

func TestRanksCanFail(t *testing.T) {
	sizes := []float64{2, 64}
	draw := func(ratio ...float64) func(...*figure) {
		return func(f ...*figure) { judgeRanks(f[0], at(sizes, 10, 100), at(sizes, 20, 200), at(sizes, ratio...)) }
	}
	checkPlanted(t, draw(2, 2), []planted{
		{"era loses with two", "E7: real processes, 2", draw(0.9, 2)},
		{"a tie with 64", "E7: real processes, 64", draw(2, 1)},
	})
}
