package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// gossipFigures are Figures 6 and 7: random probing, in which each process picks one
// other at random in each round (M5).
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
		rng := rand.New(rand.NewPCG(uint64(n), 6))
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
	rounds.claim(math.Abs(average.y[2]-11) < 1 && math.Abs(average.last()-13) < 1, "M5: rounds until all were probed, 20,000 and 100,000 nodes", "11 and 13 on average, 22 at worst of 10,000 runs",
		"%.1f and %.1f on average of %d and %d runs, %.0f at worst (computed)", average.y[2], average.last(), runs, runs*20000/100000, worst.last())
	rounds.claim(math.Ceil(need.last()) == 21, "M5: rounds for a risk of 1e-9, 100,000 nodes", "21", "%.0f", math.Ceil(need.last()))
	queue.claim(lower.y[4] <= longest.last() && longest.last() <= upper.y[4], "M5: bounds of the longest queue in a round, 100,000 nodes", "between 4.7 and 14.1",
		"%.1f, between %.1f and %.1f", longest.last(), lower.y[4], upper.y[4])
	queue.differs(math.Abs(longest.y[2]-8) < 0.5 && math.Abs(longest.last()-11) < 0.5, "M5: longest queue in a round, 20,000 and 100,000 nodes", "up to 8 and 11 (Figure 7: on average)",
		"%.1f and %.1f on average", longest.y[2], longest.last())
	messages := 2 * 13 * (100000.0 - 1)
	queue.claim(math.Abs(messages-2599974) < 1, "M5: messages until then, 100,000 nodes", "2,599,974 against 99,999 on the ring", "%s: 13 rounds of a probe and an answer, by 99,999", fmt.Sprintf("%.0f", messages))
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
