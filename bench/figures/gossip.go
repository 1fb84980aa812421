package main

import (
	"math"
	"math/rand/v2"
)

// gossipFigures are Figures 6 and 7: random probing, in which each process picks one
// other at random in each round.
func gossipFigures(r run) []*figure {
	rounds := &figure{id: "ring6", title: "RR-9024, Fig. 6: rounds of random probing until everybody was probed", xLabel: "nodes", yLabel: "rounds", logX: true}
	queue := &figure{id: "ring7", title: "RR-9024, Fig. 7: most probes that one process gets in a round", xLabel: "nodes", yLabel: "probes", logX: true}
	average, worst := rounds.add("mean", true), rounds.add("worst of 10,000 runs, if processes were independent", true)
	need := rounds.add("for a given process with risk 1e-9: ln 1e-9 / ln (1-1/N)^(N-1)", true)
	longest := queue.add("mean of the longest queue", true)
	lower, upper := queue.add("ln N / ln ln N", true), queue.add("3 ln N / ln ln N", true)
	runs := 400
	if r.quick {
		runs = 40
	}
	sizes := []int{1000, 5000, 20000, 50000, 100000}
	for _, n := range sizes {
		rng := rand.New(rand.NewPCG(r.seedOf(uint64(n)), 6))
		sum, queues := 0, 0
		for range runs * 20000 / max(n, 20000) {
			k, q := probe(rng, n)
			sum, queues = sum+k, queues+q
		}
		x, done := float64(n), float64(runs*20000/max(n, 20000))
		average.at(x, float64(sum)/done)
		// (1-p^k)^N is the chance that k rounds do; 10,000 runs in a row with chance 1/2.
		miss := float64(n-1) * math.Log1p(-1/x)
		worst.at(x, math.Ceil(math.Log(math.Ln2/(10000*x))/miss))
		need.at(x, math.Log(1e-9)/(float64(n-1)*math.Log1p(-1/x)))
		longest.at(x, float64(queues)/done)
		l := math.Log(x) / math.Log(math.Log(x))
		lower.at(x, l)
		upper.at(x, 3*l)
	}
	rounds.stated("11 and 13 rounds on average", []float64{20000, 100000}, []float64{11, 13})
	rounds.stated("22 rounds at worst", []float64{100000}, []float64{22})
	queue.stated("up to 8 and 11", []float64{20000, 100000}, []float64{8, 11})
	rounds.of(values{average.y[2], average.last(), float64(runs), float64(runs) / 5, worst.last()},
		func(v []float64) bool { return math.Abs(v[0]-11) < 1 && math.Abs(v[1]-13) < 1 && math.Abs(v[4]-22) < 1 },
		"random probing: rounds until all were probed, 20,000 and 100,000 nodes", "11 and 13 on average, 22 at worst of 10,000 runs (RR-9024 §4.3)",
		"%.1f and %.1f on average of %.0f and %.0f runs, %.0f at worst (computed)")
	rounds.of(values{math.Ceil(need.last())}, func(v []float64) bool { return v[0] == 21 },
		"random probing: rounds for a risk of 1e-9, 100,000 nodes", "21 (RR-9024 §3.4.2)", "%.0f")
	queue.of(values{longest.last()}, func(v []float64) bool { return 4.7 <= v[0] && v[0] <= 14.1 },
		"random probing: longest queue in a round, 100,000 nodes", "between 4.7 and 14.1 (RR-9024 §3.4.2)", "%.1f on average")
	queue.but(values{longest.y[2], longest.last()}, func(v []float64) bool { return math.Abs(v[0]-8) < 0.5 && math.Abs(v[1]-11) < 0.5 },
		"random probing: longest queue in a round, 20,000 and 100,000 nodes", "up to 8 and 11 (RR-9024 §4.3; Figure 7: on average)",
		"%.1f and %.1f on average")
	queue.of(values{average.last() * 2 * 99_999, average.last()}, func(v []float64) bool { return near(v[0], 2_599_974, 0.1) },
		"random probing: messages until all were probed, 100,000 nodes", "2,599,974 (RR-9024 §4.3)", "%.0f: a probe and an answer of 99,999 in %.1f rounds")
	return []*figure{rounds, queue}
}

// probe plays rounds until everybody was probed, and returns how many that took and the
// most probes of one process in the first round.
func probe(rng *rand.Rand, n int) (rounds, queue int) {
	probed := make([]bool, n)
	got := make([]uint16, n)
	for left := n; left > 0; rounds++ {
		for p := range n {
			q := int(rng.Uint64N(uint64(n - 1)))
			if q >= p {
				q++
			}
			if !probed[q] {
				probed[q] = true
				left--
			}
			if rounds == 0 {
				got[q]++
				queue = max(queue, int(got[q]))
			}
		}
	}
	return rounds, queue
}
