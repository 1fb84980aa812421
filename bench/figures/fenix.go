package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// measuredData is the folder with the measurements of bench/recovery on real processes.
const measuredData = "../recovery/out"

// scan is the assumed cost of an entry of a list of processes, for each process that takes a
// message with the list.
const scan = 2 * mono.Nanosecond

// A shape selects count of n processes that are lost; bench/recovery has the same shapes.
type shape struct {
	name string
	of   func(n, count int) []int
}

var shapes = []shape{
	{"side by side", func(n, count int) (all []int) {
		for i := range count {
			all = append(all, n/4+i)
		}
		return all
	}},
	{"at random", func(n, count int) []int {
		all := rand.New(rand.NewPCG(uint64(n), uint64(count))).Perm(n)[:count]
		slices.Sort(all)
		return all
	}},
	{"a subtree", func(n, count int) (all []int) {
		for queue := []int{1}; len(queue) > 0 && len(all) < count; queue = queue[1:] {
			if p := queue[0]; p < n {
				all, queue = append(all, p), append(queue, 2*p+1, 2*p+2)
			}
		}
		return all
	}},
}

// lose ends processes. Each that lives has a notice of each of them, and to take one costs the
// overhead.
func (g *group) lose(victims []int) {
	for _, v := range victims {
		g.dead.Add(v)
	}
	for me := range g.members {
		g.plan(g.now, func() {
			for _, v := range victims {
				g.work(me, g.now, g.overhead, era.Failed{Rank: v})
			}
		})
	}
}

// shrink is an agreement on the dead members, after which all survivors know them, and one on the
// communicator of the survivors.
func (g *group) shrink(victims []int) mono.Duration {
	g.lose(victims)
	dead := rankset.Of(victims...)
	took := g.agree(rankset.Set{})
	g.expect(dead)
	return took + g.agree(dead)
}

// repair is the repair of package recovery: leave the attempt, shrink (two agreements), replace,
// duplicate, and Protect, which exchanges a list and agrees.
func (g *group) repair(victims []int) mono.Duration {
	leave := g.agree(rankset.Set{})
	took, dead := g.shrink(victims), rankset.Of(victims...)
	for range 3 {
		took += g.agree(dead)
	}
	n := len(g.members)
	return leave + took + g.upAndDown(n, mono.Duration(n)*scan)
}

// flat is the tree that ships, and the one in which a subtree of shapes is one.
func flat(p int) int { return (p+1)/2 - 1 }

// beside states the measured value of real processes of this machine beside the simulated value.
func (f *figure) beside(what string, simulated float64, curve string, x float64) {
	for _, s := range f.series {
		if i := slices.Index(s.x, x); s.name == curve && i >= 0 {
			f.claims = append(f.claims, claim{what, "", fmt.Sprintf("simulated %.0f us, measured on two cores %.0f us: %.1f times", simulated, s.y[i], s.y[i]/simulated), untold})
		}
	}
}

// addMeasured draws the measurements of bench/recovery, if there are any.
func (f *figure) addMeasured() {
	err := f.readFarm(filepath.Join(measuredData, f.id+".csv"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.claim(false, "the measurements of bench/recovery can be read", "", "%v", err)
	}
}

// fenixFigures are Figures 4a to 4c of ERA: S3D in Fenix, on Titan, with 16 processes a node.
func fenixFigures(r run) []*figure {
	top := 6000
	if r.quick {
		top = 512
	}
	m := fit(darter, top, mono.Duration(1e3*stated(float64(top))))
	fourA, times := lostFigure(m, r)
	return []*figure{fourA, shapeFigure(m, r), repairFigure(m, r), overheadFigure(times)}
}

// lostFigure is 4a: a shrink, the more are lost. It returns how many times faster ERA is with the
// fewest.
func lostFigure(m machine, r run) (f *figure, times float64) {
	n, most := 2197, 1024
	if r.quick {
		n, most = 343, 64
	}
	f = &figure{id: "fenix4a", title: "ERA, Fig. 4a: shrink, the more are lost", xLabel: "processes lost", yLabel: "us until the last returns", logX: true, logY: true}
	name := fmt.Sprintf("era, %d processes", n)
	ours, two := f.add(name, true), f.add(fmt.Sprintf("Log2phases, %d processes", n), true)
	for lost := 16; lost <= most; lost *= 4 {
		ours.at(float64(lost), micros(newGroup(m, n, flat).shrink(shapes[0].of(n, lost))))
		two.at(float64(lost), micros(newTwoPhase(m, n).shrink(shapes[0].of(n, lost))))
	}
	for _, small := range []int{16, 64} {
		c := f.add(fmt.Sprintf("era, %d processes", small), true)
		for lost := 1; lost <= small/2; lost *= 2 {
			c.at(float64(lost), micros(newGroup(m, small, flat).shrink(shapes[0].of(small, lost))))
		}
	}
	f.stated("ERA, 2,197 processes", []float64{16}, []float64{0.43e6})
	f.stated("Log2phases, 2,197 processes", []float64{16}, []float64{6.85e6})
	f.addMeasured()
	times = two.y[0] / ours.y[0]
	lostCurves{ours, two}.judge(f)
	for _, how := range []string{"node", "era"} {
		small := f.series[slices.IndexFunc(f.series, func(s *series) bool { return s.name == "era, 64 processes" })]
		for i, x := range small.x {
			f.beside(fmt.Sprintf("4a: 64 processes, %.0f lost, --agree %s", x, how), small.y[i], "measured, 64 processes, --agree "+how, x)
		}
	}
	return f, times
}

// shapeFigure is 4b: 256 lost of more and more, side by side, at random, or below one another in
// the tree.
func shapeFigure(m machine, r run) *figure {
	sizes, lost, middle := []int{1000, 2197, 4913, 10648}, 256, 4913
	if r.quick {
		sizes, lost, middle = []int{125, 216, 343, 512}, 32, 343
	}
	f := &figure{id: "fenix4b", title: "ERA, Fig. 4b: shrink, 256 lost", xLabel: "processes", yLabel: "us until the last returns", logX: true, logY: true}
	var worst, least float64
	for _, s := range shapes {
		c := f.add("era, "+s.name, true)
		for _, n := range sizes {
			c.at(float64(n), micros(newGroup(m, n, flat).shrink(s.of(n, lost))))
			if y := c.last(); n == middle && (least == 0 || y < least) {
				least = y
			}
			if n == middle {
				worst = max(worst, c.last())
			}
		}
		small := f.add("era, a quarter lost "+s.name, true)
		for _, n := range []int{16, 32, 64} {
			small.at(float64(n), micros(newGroup(m, n, flat).shrink(s.of(n, n/4))))
		}
	}
	c := shapeCurves{era: f.series[0], two: f.add("Log2phases, side by side", true), walks: f.add("Log2phases, side by side, and walks through the list", true)}
	for _, n := range sizes[:len(paperFactors)] { // where both ran in the paper
		c.two.at(float64(n), micros(newTwoPhase(m, n).shrink(shapes[0].of(n, lost))))
		walking := newTwoPhase(m, n)
		walking.entry = walked
		c.walks.at(float64(n), micros(walking.shrink(shapes[0].of(n, lost))))
	}
	f.addMeasured()
	c.judge(f)
	f.differs(worst > 1.1*least, fmt.Sprintf("4b: the place of the lost, %d processes", middle), "affects the time of era", "%.0f to %.0f us", least, worst)
	for i, s := range shapes {
		small := f.series[2*i+1]
		f.beside("4b: 64 processes, a quarter lost "+s.name+", --agree era", small.last(), "measured, a quarter lost "+s.name+", --agree era", 64)
	}
	return f
}

// repairFigure is 4c: the whole repair. Fenix shrinks, spawns, merges and splits, and a split has a
// list of all. The repair of package recovery is in repair.
func repairFigure(m machine, r run) *figure {
	sizes := []int{1000, 2197, 4913, 8000, 10648}
	if r.quick {
		sizes = []int{125, 216, 343}
	}
	f := &figure{id: "fenix4c", title: "ERA, Fig. 4c: repair, 16 lost", xLabel: "processes", yLabel: "us until the last returns", logX: true, logY: true}
	fenix, ours := f.add("era, as in Fenix: shrink, spawn and merge, split", true), f.add("era, as here, 16 lost", true)
	for _, n := range sizes {
		victims := shapes[0].of(n, 16)
		g := newGroup(m, n, flat)
		fenix.at(float64(n), micros(g.shrink(victims)+2*g.agree(rankset.Of(victims...))+m.upAndDown(n, mono.Duration(n)*scan)))
		ours.at(float64(n), micros(newGroup(m, n, flat).repair(victims)))
	}
	small := f.add("era, as here: six agreements and an exchange", true)
	for n := 4; n <= 64; n *= 2 {
		small.at(float64(n), micros(newGroup(m, n, flat).repair([]int{n / 2})))
	}
	f.stated("below 1.4 s above 10,000", []float64{10000, 10648}, []float64{1.4e6, 1.4e6})
	f.addMeasured()
	f.assumed("4c: growth of a repair as in Fenix", "linear", "R² = %.3f with n, by the list of a split at 2 ns an entry, which is assumed", linearFit(fenix.x, fenix.y))
	for i, n := range small.x {
		f.beside(fmt.Sprintf("4c: repair of %.0f, one lost, --agree node", n), small.y[i], "measured: from the death until all are back", n)
	}
	return f
}

// overheadFigure is the overhead of S3D that loses a node of 2,197 processes every now and then:
// the paper's computation from the factor of a faster shrink, and the same with the simulated
// factor.
func overheadFigure(times float64) *figure {
	f := &figure{id: "fenixmtbf", title: "ERA, section 4.2.1: overhead of failures and of fault tolerance", xLabel: "MTBF, s", yLabel: "%", logX: true}
	whole, shrink, states := []float64{31, 15, 10}, []float64{14, 7, 4}, []float64{17.9, 8.4, 6.2}
	mtbf := []float64{47, 94, 189}
	c := f.add("with the simulated shrink", true)
	for i, x := range mtbf {
		with := func(times float64) float64 { return whole[i] - shrink[i]*(1-1/times) }
		c.at(x, with(times))
		own := with(6.85 / 0.43)
		f.claim(own > states[i]-0.1 && own < states[i]+0.1, fmt.Sprintf("overhead at an MTBF of %.0f s", x), fmt.Sprintf("%.0f %%, %.1f %% with ERA", whole[i], states[i]),
			"%.1f %% by their shrinks of 6.85 and 0.43 s; %.1f %% by the simulated factor of %.1f", own, c.last(), times)
	}
	f.stated("with Log2phases", mtbf, whole)
	f.stated("with ERA", mtbf, states)
	f.addMeasured()
	return f
}
