// Command tree plays Figure 5 of Bouteiller and Desprez (Fault tolerance management for a
// hierarchical GridRPC middleware, 2008) with the rule of internal/tree, in virtual time: a
// chain of agents of which some die at one moment, and how long it takes from the first
// detection until each survivor has a parent and knows its ancestors.
//
//	go run ./bench/tree > figure5.csv
//
// Two kinds of evidence: "refusal", where the machines of the dead are there and refuse
// connections, as after kill -9; and "silence", where machines are gone, and heartbeats are all
// there is. A message takes 0.1 to 0.3 ms.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
)

func main() {
	agents := flag.Int("chain", 32, "agents in the chain, the root included")
	known := flag.Int("f", 16, "ancestors that each knows")
	observed := flag.Int("observed", 4, "of these, how many are observed")
	runs := flag.Int("runs", 50, "runs of each number of failures")
	most := flag.Int("most", 20, "failures at most")
	flag.Parse()
	if *agents < 3 || *known < 1 || *observed < 1 || *runs < 1 || *most < 1 || *most > *agents-2 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "tree: want a chain of 3 or more, and fewer failures than agents between its ends")
		os.Exit(2)
	}
	fmt.Println("pattern,evidence,failures,mean_ms,least_ms,longest_ms,asked_for_root")
	for _, pattern := range []string{"worst", "random"} {
		for _, evidence := range []string{"refusal", "silence"} {
			for failures := 1; failures <= *most; failures++ {
				figure(setting{*agents, *known, *observed, evidence == "silence"}, pattern, evidence, failures, *runs)
			}
		}
	}
}

// setting is what all runs of a curve have in common.
type setting struct {
	agents, known, observed int
	silence                 bool
}

// figure prints one point.
func figure(s setting, pattern, evidence string, failures, runs int) {
	var took []float64
	asked := 0
	for run := range runs {
		random := rand.New(rand.NewPCG(uint64(run), uint64(failures)))
		w := newChain(s, random)
		victims := random.Perm(s.agents - 2)[:failures] // neither the root nor the lowest
		for i := range victims {
			victims[i]++
			if pattern == "worst" { // the ancestors of the lowest one
				victims[i] = s.agents - 2 - i
			}
		}
		ms, n := w.fail(victims)
		took = append(took, ms)
		asked += n
	}
	sum := 0.0
	for _, ms := range took {
		sum += ms
	}
	fmt.Printf("%s,%s,%d,%.2f,%.2f,%.2f,%.2f\n", pattern, evidence, failures, sum/float64(runs), slices.Min(took), slices.Max(took), float64(asked)/float64(runs))
}
