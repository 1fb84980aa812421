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

// agreementFigures are Figures 2a and 2b of ERA and Table 2d (E1, E3, E4, E5, E7).
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
	return []*figure{scalability(m, sizes), topologies(m, sizes), roles(m, top)}
}

func scalability(m machine, sizes []int) *figure {
	f := &figure{id: "era2a", title: "ERA, Fig. 2a: agreement without failures", xLabel: "processes", yLabel: "us until the last returns", logX: true, logY: true}
	ours, reduce, two := f.add("era, bin/bin", true), f.add("all-reduce, knows the nodes", true), f.add("two-phase commit with lists (Log2phases)", true)
	var x, y []float64
	off := 0.0
	for _, n := range sizes {
		v := float64(n)
		ours.at(v, micros(newGroup(m, n, binBin).agree(rankset.Set{})))
		reduce.at(v, micros(m.byNode(n)))
		two.at(v, micros(m.twoPhase(n, 2)))
		x, y = append(x, v), append(y, stated(v))
		off = max(off, math.Abs(ours.last()/stated(v)-1))
	}
	f.stated("6.7 log_2.125 n", x, y)
	a, b, r2 := logFit(ours.x, ours.y)
	f.claim(r2 > 0.97, "E7: growth of era", "logarithmic", "%.2f·log2 n %+.1f us, R² = %.4f", a, b, r2)
	f.differs(off < 0.05, "E1: the curve at all sizes", "6.7·log_2.125 n = 6.16·log2 n us, asymptotic standard error 0.6 %", "up to %.0f %% below it, at %v processes", 100*off, sizes[0])
	f.claim(math.Abs(ours.last()/stated(sizesEnd(sizes))-1) < 0.02, fmt.Sprintf("E1: %v processes", sizesEnd(sizes)), fmt.Sprintf("%.1f us (the one number fitted)", stated(sizesEnd(sizes))),
		"%.1f us with o = %.2f us, L = %.1f us (%.1f us within a node)", ours.last(), micros(m.overhead), micros(m.between), micros(m.within))
	// A model's own growth between the two largest sizes tells linear from logarithmic.
	k := len(sizes) - 1
	grow := (two.y[k] / two.y[k-1]) / (two.x[k] / two.x[k-1])
	f.claim(linearFit(two.x, two.y) > 0.97, "E7: growth of Log2phases", "linear", "linear fit R² = %.3f (its list costs 2 ns a process and message); the last step is %.2f of proportional", linearFit(two.x, two.y), grow)
	return f
}

func sizesEnd(sizes []int) float64 { return float64(sizes[len(sizes)-1]) }

func topologies(m machine, sizes []int) *figure {
	f := &figure{id: "era2b", title: "ERA, Fig. 2b: trees, 16 processes a node", xLabel: "processes", yLabel: "us until the last returns", logX: true, logY: true}
	last := map[string]float64{}
	for i, tree := range trees {
		curve := f.add(tree.name, true)
		for _, n := range sizes {
			if n <= tree.most {
				curve.at(float64(n), micros(newGroup(m, n, tree.parent).agree(rankset.Set{})))
			}
		}
		last[tree.name] = f.series[i].last()
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

// roles is Table 2d: who fails. The time of the agreement that detects the failure is
// that of the detector, which is a parameter here.
func roles(m machine, n int) *figure {
	f := &figure{id: "era2d", title: "ERA, Table 2d: role of the failed process, bin/bin", xLabel: "case", yLabel: "us until the last returns"}
	const told = 100 * mono.Microsecond // a tombstone in shared memory
	node := make([]int, 16)
	for i := range node {
		node[i] = 16 + i
	}
	cases := []struct {
		name                      string
		victims                   []int
		detect, stabilise, beyond float64 // the paper's
	}{
		{"0 (root)", []int{0}, 12659, 104.9, 69.7},
		{"4 (child of 0)", []int{4}, 93816, 102, 75.7},
		{"16 (node master)", []int{16}, 80023, 98.9, 77.1},
		{"17 (child of 16)", []int{17}, 112414, 104.2, 76.7},
		{"16-31 (full node)", node, 82171, 117.1, 85.2},
	}
	detecting, stabilising, later, rebalanced := f.add("detecting", true), f.add("stabilising", true), f.add("after it", true), f.add("after it, rebalanced", true)
	var x, paperStabilise, paperLater []float64
	for i, c := range cases {
		g := newGroup(m, n, binBin)
		before := micros(g.agree(rankset.Set{}))
		g.kill(c.victims, told)
		dead := rankset.Of(c.victims...)
		v := float64(i + 1)
		detecting.at(v, micros(g.agree(rankset.Set{})))
		if !g.value.Failed() || !g.value.Dead.Equal(dead) {
			panic(fmt.Sprintf("dead %v: decided %v", dead, g.value))
		}
		stabilising.at(v, micros(g.agree(dead)))
		if g.value.Failed() {
			panic(fmt.Sprintf("dead %v are acknowledged: decided %v", dead, g.value))
		}
		later.at(v, micros(g.agree(dead)))
		if i == 0 || len(c.victims) > 1 {
			for range era.Window {
				g.agree(dead)
			}
			rebalanced.at(v, micros(g.agree(dead)))
		}
		x, paperStabilise, paperLater = append(x, v), append(paperStabilise, c.stabilise), append(paperLater, c.beyond)
		ratio, paperRatio := later.last()/before, c.beyond/stated(float64(n))
		f.claim(stabilising.last()/later.last() <= 1.4 && ratio < 1.5 && detecting.last() < 1000, "E2-E4: failure of "+c.name,
			fmt.Sprintf("%.0f us to detect, %.1f us to stabilise, %.1f us after (%.2f of failure-free)", c.detect, c.stabilise, c.beyond, paperRatio),
			"%.0f us to detect (told after 100 to 110 us), %.1f us, %.1f us (%.2f)", detecting.last(), stabilising.last(), later.last(), ratio)
	}
	f.claim(math.Abs(rebalanced.last()/stated(float64(n))-1) < 0.05, "Table 2d: rebalanced after the death of a full node", "indistinguishable from failure-free", "%.1f us", rebalanced.last())
	f.stated("stabilising", x, paperStabilise)
	f.stated("after it", x, paperLater)
	return f
}
