// Command tree reproduces Figure 5 of Bouteiller and Desprez (Fault tolerance management for a
// hierarchical GridRPC middleware, 2008) with the rule of internal/tree. Some agents of a chain die
// at one moment. The figure is the time from the first detection until each survivor has a parent
// and knows its ancestors.
//
//	go run ./bench/tree > figure5.csv
//	go run ./bench/tree -processes -failures 1,4,8,16,20 -runs 3
//
// The first command runs in virtual time; a message takes 0.1 to 0.3 ms. There are two kinds of
// evidence. With "refusal" the machines of the dead refuse connections, as after kill -9. With
// "silence" the machines are lost, and heartbeats are the only evidence. With -tags published the
// search is that of the paper's rule, which uses silence alone in both cases.
//
// The second command runs processes of "gridrpc up" on this machine. For "refusal" they are killed.
// For "silence" they are stopped: all connections stay open without answers. "published" is silence
// with agents that search by the paper's rule.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

// patterns are the choices of the victims: the agents above the lowest one, or any agents.
var patterns = []string{"worst", "random"}

func main() {
	agents := flag.Int("chain", 32, "agents in the chain, the root included")
	known := flag.Int("f", 16, "ancestors that each knows")
	observed := flag.Int("observed", 4, "of these, how many are observed")
	runs := flag.Int("runs", 50, "runs of each number of failures")
	most := flag.Int("most", 20, "failures at most")
	which := flag.String("failures", "", "numbers of failures, by commas; all up to -most if there are none")
	processes := flag.Bool("processes", false, "with real processes, on this machine; -f and -observed are as agents have them")
	only := flag.String("only", "", "a part of PATTERN,EVIDENCE: of all curves those that have it")
	flag.Parse()
	failures, err := numbers(*which, *most)
	if *agents < 3 || *known < 1 || *observed < 1 || *runs < 1 || err != nil || slices.Min(failures) < 1 || slices.Max(failures) > *agents-2 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "tree: want a chain of 3 or more, and fewer failures than agents between its ends")
		os.Exit(2)
	}
	if *processes && (*known != 16 || *observed != 4) {
		fmt.Fprintln(os.Stderr, "tree: agents know 16 ancestors, and observe 4")
		os.Exit(2)
	}
	fmt.Println("pattern,evidence,failures,mean_ms,least_ms,longest_ms,asked_for_root")
	if *processes {
		if err := onProcesses(setting{agents: *agents, known: *known, observed: *observed}, *only, failures, *runs); err != nil {
			fmt.Fprintln(os.Stderr, "tree:", err)
			os.Exit(1)
		}
		return
	}
	for _, pattern := range patterns {
		for _, evidence := range []string{"refusal", "silence"} {
			if !strings.Contains(pattern+","+evidence, *only) {
				continue
			}
			for _, n := range failures {
				figure(setting{*agents, *known, *observed, evidence == "silence"}, pattern, evidence, n, *runs)
			}
		}
	}
}

// numbers reads a list of numbers of failures.
func numbers(text string, most int) (list []int, err error) {
	if text == "" {
		for n := range max(1, most) {
			list = append(list, n+1)
		}
		return list, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// setting has the parameters of all runs of a curve.
type setting struct {
	agents, known, observed int
	silence                 bool
}

// victims draws the agents that die: neither the root nor the lowest.
func victims(random *rand.Rand, agents int, pattern string, failures int) []int {
	list := random.Perm(agents - 2)[:failures]
	for i := range list {
		list[i]++
		if pattern == "worst" { // the ancestors of the lowest one
			list[i] = agents - 2 - i
		}
	}
	return list
}

// figure prints one point, of virtual time.
func figure(s setting, pattern, evidence string, failures, runs int) {
	var took []float64
	asked := 0
	for run := range runs {
		random := rand.New(rand.NewPCG(uint64(run), uint64(failures)))
		w := newChain(s, random)
		ms, n := w.fail(victims(random, s.agents, pattern, failures))
		took = append(took, ms)
		asked += n
	}
	point(pattern, evidence, failures, took, asked)
}

// point prints the times of several runs.
func point(pattern, evidence string, failures int, took []float64, asked int) {
	sum, runs := 0.0, float64(len(took))
	for _, ms := range took {
		sum += ms
	}
	fmt.Printf("%s,%s,%d,%.2f,%.2f,%.2f,%.2f\n", pattern, evidence, failures, sum/runs, slices.Min(took), slices.Max(took), float64(asked)/runs)
}
