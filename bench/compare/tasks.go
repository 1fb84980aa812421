package main

import (
	"slices"
	"strings"
)

// suites are what can be compared.
var suites = []string{"p2p", "coll", "ulfm", "start"}

// A task is one program with its arguments at one number of ranks: what takes
// one turn.
type task struct {
	suite string
	n     int
	args  []string
}

// tasks are those of the chosen suites. At more than manyRanks the longer
// messages are left out: they would take minutes and no target is about them.
func tasks(o options) []task {
	var ts []task
	budget := strings.Fields("-json -batches 5 -time 100ms")
	deaths := strings.Fields("-json -batches 5")
	if o.quick {
		budget = strings.Fields("-json -batches 3 -time 40ms")
		deaths = strings.Fields("-json -batches 3")
	}
	add := func(suite string, n int, args string, more []string) {
		if slices.Contains(o.only, suite) {
			ts = append(ts, task{suite, n, append(strings.Fields(args), more...)})
		}
	}
	add("p2p", 2, "-ops latency -sizes 8,1K,4K,16K,64K,1M,4M", budget)
	add("p2p", 2, "-ops bandwidth,rate -sizes 4K,1M", budget)
	for _, n := range o.counts {
		if n <= manyRanks {
			add("coll", n, "-ops barrier,allreduce,bcast -sizes 8,64K,1M", budget)
		} else {
			add("coll", n, "-ops barrier,allreduce -sizes 8", budget)
		}
	}
	for _, n := range o.counts {
		add("ulfm", n, "", deaths)
	}
	for _, n := range o.counts {
		add("start", n, "", nil)
	}
	return ts
}

const manyRanks = 16

// measures says whether the task gives the row.
func (t task) measures(k key) bool { return suiteOf(k.bench) == t.suite && t.n == k.n }

// suiteOf is the suite that a row comes from.
func suiteOf(bench string) string {
	switch bench {
	case "latency", "bandwidth", "bibandwidth", "rate":
		return "p2p"
	case "barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter":
		return "coll"
	case "start":
		return "start"
	}
	return "ulfm"
}
