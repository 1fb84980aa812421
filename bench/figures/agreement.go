package main

import (
	"fmt"
	"math"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

func micros(d mono.Duration) float64 { return float64(d) / 1e3 }

// stated is the fit of the paper to its bin/bin measurements: 6.7 log_2.125 x us.
func stated(x float64) float64 { return 6.7 * math.Log(x) / math.Log(2.125) }

// agreementFigures are Figures 2a to 2c of ERA and Table 2d (E1 to E5, E7). Each figure is drawn
// first and judged afterwards, in agreement_claims.go.
func agreementFigures(r run) []*figure {
	top := 6000
	if r.quick {
		top = 1024
	}
	m := fit(darter, top, mono.Duration(1e3*stated(float64(top))))
	sizes := []int{}
	for n := 16; n < top; n *= 2 {
		sizes = append(sizes, n)
	}
	sizes = append(sizes, top)
	return []*figure{scalability(m, sizes), topologies(m, sizes), impact(m, sizes), roles(m, top)}
}

// walked is the cost of an entry in the curve of Log2phases with walks through the list of all
// processes. It is assumed: the paper states none.
const walked = 2 * mono.Nanosecond

// binomial is the tree of Log2phases.
func binomial(p int) int {
	if p == 0 {
		return -1
	}
	return p - 1<<floorLog2(p)
}

func scalability(m machine, sizes []int) *figure {
	f := &figure{id: "era2a", title: "ERA, Fig. 2a: agreement without failures", xLabel: "processes", yLabel: "us until the last returns", logX: true, logY: true}
	var c growth
	c.era, c.reduce, c.two = f.add("era, bin/bin", true), f.add("all-reduce, knows the nodes", true), f.add("Log2phases", true)
	c.binomial, c.walks = f.add("era, on the tree of Log2phases", true), f.add("Log2phases, and walks through the list, 2 ns an entry", true)
	var x, y []float64
	for _, n := range sizes {
		v := float64(n)
		c.era.at(v, micros(newGroup(m, n, binBin).agree(rankset.Set{})))
		c.reduce.at(v, micros(m.byNode(n)))
		c.two.at(v, micros(newTwoPhase(m, n).agree(rankset.Set{})))
		c.binomial.at(v, micros(newGroup(m, n, binomial).agree(rankset.Set{})))
		walking := newTwoPhase(m, n)
		walking.entry = walked
		c.walks.at(v, micros(walking.agree(rankset.Set{})))
		x, y = append(x, v), append(y, stated(v))
	}
	f.stated("6.7 log_2.125 n", x, y)
	c.judge(f, m)
	return f
}

func topologies(m machine, sizes []int) *figure {
	f := &figure{id: "era2b", title: "ERA, Fig. 2b: trees, 16 processes a node", xLabel: "processes", yLabel: "us until the last returns", logX: true, logY: true}
	for _, tree := range trees {
		curve := f.add(tree.name, true)
		for _, n := range sizes {
			if n <= tree.most {
				curve.at(float64(n), micros(newGroup(m, n, tree.parent).agree(rankset.Set{})))
			}
		}
	}
	flat, node := f.add("all-reduce, flat", true), f.add("all-reduce, knows the nodes", true)
	for _, n := range sizes {
		flat.at(float64(n), micros(m.allreduce(n)))
		node.at(float64(n), micros(m.byNode(n)))
	}
	binbin, binary, binstar := f.series[0].last(), f.series[1].last(), f.series[2].last()
	f.claim(binary < binstar && binbin < binstar, "E5: bin/star at the largest size", "slower than flat binary and bin/bin (16 copies in sequence)", "%.1f us against %.1f and %.1f us", binstar, binary, binbin)
	f.claim(binbin < binary, "E5: bin/bin against flat binary", "faster", "%.1f against %.1f us; depends on the chosen cost of a copy, see above", binbin, binary)
	f.claim(binbin/node.last() > 1.5 && binbin/node.last() < 2.5, "E5: bin/bin against the optimised all-reduce", "doubled", "%.2f times (%.1f us)", binbin/node.last(), node.last())
	f.claim(math.Abs(binary/flat.last()-1) < 0.15, "E5: flat binary against the flat all-reduce", "extremely similar", "%.1f and %.1f us (era sends what a reduction and a broadcast over the tree send)", binary, flat.last())
	return f
}

// told is the time until the others learn of a death: the time of a tombstone in shared memory. The
// time of the agreement that detects a failure is the time of the detector, a parameter here.
const told = 100 * mono.Microsecond

// impact is Figure 2c: one failure, of the first process of node 1, at each size.
func impact(m machine, sizes []int) *figure {
	f := &figure{id: "era2c", title: "ERA, Fig. 2c: agreements after one failure, bin/bin", xLabel: "processes", yLabel: "us until the last returns", logX: true, logY: true}
	var c aftermath
	c.without, c.detecting, c.stabilising = f.add("without failures", true), f.add("detecting", true), f.add("stabilising", true)
	c.later, c.rebalanced = f.add("after it", true), f.add("after it, rebalanced", true)
	victim := []int{darter.perNode}
	dead := rankset.Of(victim...)
	for i, n := range sizes {
		if n <= 4*darter.perNode || (i%2 == 0 && i != len(sizes)-1) {
			continue // few nodes, or not drawn: a point costs as much as 21 of Figure 2a
		}
		g, v := newGroup(m, n, binBin), float64(n)
		c.without.at(v, micros(g.agree(rankset.Set{})))
		g.kill(victim, told)
		c.detecting.at(v, micros(g.agree(rankset.Set{})))
		g.expect(dead)
		c.stabilising.at(v, micros(g.agree(dead)))
		c.later.at(v, micros(g.agree(dead)))
		for range era.Window {
			g.agree(dead)
		}
		c.rebalanced.at(v, micros(g.agree(dead)))
	}
	c.judge(f)
	return f
}

// expect panics unless the last agreement reported exactly these deaths, as not acknowledged.
func (g *group) expect(dead rankset.Set) {
	if !g.value.Failed() || !g.value.Dead.Equal(dead) {
		panic(fmt.Sprintf("dead %v: decided %v", dead, g.value))
	}
}

// mendedLink is the extra cost of a message over a link that came with the repair of the tree, in
// the experiment of Table 2d.
const mendedLink = 4 * mono.Microsecond

// roles is Table 2d: the role of the failed process.
func roles(m machine, n int) *figure {
	f := &figure{id: "era2d", title: "ERA, Table 2d: role of the failed process, bin/bin", xLabel: "case", yLabel: "us until the last returns"}
	detecting, stabilising, later, rebalanced := f.add("detecting", true), f.add("stabilising", true), f.add("after it", true), f.add("after it, rebalanced", true)
	mended := f.add(fmt.Sprintf("after it, if mended links cost %.0f us more", micros(mendedLink)), true)
	t := roleTable{size: n}
	var x, paperStabilise, paperLater []float64
	for i, c := range roleCases {
		g := newGroup(m, n, binBin)
		t.before = micros(g.agree(rankset.Set{}))
		g.kill(c.victims, told)
		dead := rankset.Of(c.victims...)
		v := float64(i + 1)
		detecting.at(v, micros(g.agree(rankset.Set{})))
		g.expect(dead)
		stabilising.at(v, micros(g.agree(dead)))
		later.at(v, micros(g.agree(dead)))
		if i == 0 || len(c.victims) > 1 {
			for range era.Window {
				g.agree(dead)
			}
			rebalanced.at(v, micros(g.agree(dead)))
		}
		g = newGroup(m, n, binBin)
		g.parent, g.mended = binBin, mendedLink
		g.lose(c.victims)
		g.agree(rankset.Set{})
		mended.at(v, micros(g.agree(dead)))
		x, paperStabilise, paperLater = append(x, v), append(paperStabilise, c.stabilise), append(paperLater, c.beyond)
	}
	t.detect, t.stabilise, t.later, t.mended, t.rebalanced = detecting.y, stabilising.y, later.y, mended.y, rebalanced.last()
	t.judge(f)
	f.stated("stabilising", x, paperStabilise)
	f.stated("after it", x, paperLater)
	return f
}
