package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// The setting of PARCO 2019, §5.6: period 0.5 s, timeout twice that, TCP.
var parco = setting{name: "P 0.5 s, T 1 s", period: 500 * mono.Millisecond, timeout: mono.Second, tau: 100 * mono.Microsecond}

// nodeFigures are Figure 14, the death of one node against their number, and Figure 15,
// several at once, side by side or at random .
func nodeFigures(r run) []*figure {
	f := &figure{id: "rdaemon14", title: "PARCO 2019, Fig. 14: death of a node, P = 0.5 s, T = 1 s", xLabel: "nodes", yLabel: "seconds until all know", logX: true}
	least, average, most := f.add("least of 40", true), f.add("mean", true), f.add("most", true)
	for n := 4; n <= 64; n *= 2 {
		low, sum, high := math.Inf(1), 0.0, 0.0
		for seed := range uint64(40) {
			took := r.nodes(n, seed, 1, atRandom)
			low, sum, high = min(low, took), sum+took/40, max(high, took)
		}
		least.at(float64(n), low)
		average.at(float64(n), sum)
		most.at(float64(n), high)
	}
	f.stated("P", []float64{4, 64}, []float64{0.5, 0.5})
	f.stated("T", []float64{4, 64}, []float64{1, 1})
	low, high := math.Inf(1), 0.0
	for i := range least.y {
		low, high = min(low, least.y[i]), max(high, most.y[i])
	}
	f.of(values{low, high}, func(v []float64) bool { return v[0] >= 0.499 && v[1] <= 1.01 },
		"death of a node, T = 2P = 1 s", "between 0.5 and 1 s for all tested numbers of nodes (PARCO 2019 §5.6)", "%.3f s to %.3f s with 4 to 64 nodes")

	g := &figure{id: "rdaemon15", title: "PARCO 2019, Fig. 15: several nodes at once, P = 0.5 s, T = 1 s, 64 nodes", xLabel: "nodes that die", yLabel: "seconds until all know all"}
	side, random := g.add("side by side, package fd (B9)", true), g.add("at random, package fd", true)
	apart := g.add("at random, no two neighbours, package fd", true)
	plain := g.add("side by side, RR-9024 as printed: one after the other", true)
	for k := 1; k <= 8; k++ {
		sums := [4]float64{}
		for seed := range uint64(40) {
			sums[0] += r.nodes(64, seed, k, together) / 40
			sums[1] += r.nodes(64, seed, k, atRandom) / 40
			sums[3] += r.nodes(64, seed, k, notNeighbours) / 40
			sums[2] += oneByOne(parco, r.seedOf(seed), k) / 40
		}
		side.at(float64(k), sums[0])
		random.at(float64(k), sums[1])
		plain.at(float64(k), sums[2])
		apart.at(float64(k), sums[3])
	}
	g.of(values{side.y[0], side.last()}, func(v []float64) bool { return v[1] >= v[0] && v[1] < v[0]+7*seconds(parco.timeout) },
		"deaths of 8 neighbours", "a linear number of timeouts, so 7 more than for one (PARCO 2019 §5.6)", "%.2f s for 1, %.2f s for 8: one for each doubling (B9)")
	marginal := func(v []float64) bool { return v[1] < 1.35*v[0] }
	g.of(values{apart.y[0], apart.last()}, marginal, "deaths at random, no two neighbours", "marginal increase (PARCO 2019 §5.6)", "%.2f s for 1, %.2f s for 8")
	g.but(values{random.y[0], random.last()}, marginal, "deaths at random, neighbours as they come", "marginal increase (PARCO 2019 §5.6)", "%.2f s for 1, %.2f s for 8")
	return []*figure{f, g}
}

// A placement selects the nodes that die.
type placement int

const (
	atRandom placement = iota
	notNeighbours
	together
)

func haveNeighbours(victims []int, n int) bool {
	for _, v := range victims {
		if slices.Contains(victims, (v+1)%n) {
			return true
		}
	}
	return false
}

// nodes kills k of n nodes at once and returns the seconds until all know all, from a
// full simulation: every node has a detector.
func (r run) nodes(n int, seed uint64, k int, where placement) float64 {
	seed = r.seedOf(seed)
	f := newFull(parco, n, seed)
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	at := mono.Time(3*parco.timeout) + mono.Time(rng.Int64N(int64(parco.period)))
	victims := distinct(rng, n, k)
	for where == notNeighbours && haveNeighbours(victims, n) {
		victims = distinct(rng, n, k)
	}
	for i := range victims {
		if where == together {
			victims[i] = (victims[0] + i) % n
		}
		f.kill(victims[i], at)
	}
	last := mono.Time(0)
	for _, d := range f.run(at.Add(mono.Duration(2*k+4) * parco.timeout)) {
		if d.known == 0 {
			panic(fmt.Sprintf("seed %d: death of %d is not known", seed, d.rank))
		}
		last = max(last, d.known)
	}
	return seconds(last.Sub(at))
}

// oneByOne is Algorithm 1 of RR-9024 as printed, for k neighbours that die at once: the
// observer waits a timeout for the first, and twice that for each further one, which
// does not answer NEWOBSERVER.
func oneByOne(s setting, seed uint64, k int) float64 {
	sinceBeat := mono.Duration(mix(seed, 3, 3) % uint64(s.period))
	return seconds(s.timeout - sinceBeat + mono.Duration(k-1)*2*s.timeout)
}
