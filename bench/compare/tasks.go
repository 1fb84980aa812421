package main

import (
	"cmp"
	"slices"
	"strings"
)

// suites are the names of all suites.
var suites = []string{"p2p", "coll", everyColl, "ulfm", "start", overTCP, oneSided}

// overTCP is the suite of p2p, coll and ulfm between nodes of one rank each, all on this machine.
// Its rows have the names of these suites, with tcpPrefix.
const (
	overTCP   = "tcp"
	tcpPrefix = "tcp_"
)

// tcpCounts are the numbers of nodes of this suite.
var tcpCounts = []int{2, 4, 8}

// everyColl is the suite of the collectives without targets in coll, each at many sizes, by the
// program of coll.
const everyColl = "collectives"

// verbs are the collectives of this suite.
var verbs = []string{"reduce", "allgather", "alltoall", "gather", "scatter", "reduce_scatter", "scan"}

// A task is one program with its arguments at one number of ranks: the unit of a turn.
type task struct {
	suite   string
	n       int
	verb    string // the collective of everyColl, or the operation on a window; else ""
	args    []string
	between string // in the suite over TCP: the suite with the same program
}

func (t task) String() string { return strings.TrimSuffix(t.suite+" "+t.verb+t.between, " ") }

// program is the command of bench/measure that the task runs.
func (t task) program() string { return programOf(cmp.Or(t.between, t.suite)) }

// programOf is the program of a suite.
func programOf(suite string) string {
	if suite == everyColl {
		return "coll"
	}
	return suite
}

// peerProgram is the program of the peers.
func (t task) peerProgram() string {
	switch {
	case t.suite == "start":
		return "hello"
	case t.suite == oneSided && strings.HasPrefix(t.verb, shmemPrefix):
		return shmemProgram
	}
	return t.program()
}

// The sizes of everyColl: bytes of a block or of a vector. There is an odd number of them, so that
// the median is one of the sizes.
const (
	verbSizes     = "8,64,512,4K,64K,1M,4M"
	verbSizesMany = "8,64,512,4K,32K" // above manyRanks
)

// tasks are the tasks of the chosen suites. Above manyRanks the longer messages are left out: they
// would take minutes, and no target covers them.
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
			ts = append(ts, task{suite: suite, n: n, args: append(strings.Fields(args), more...)})
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
	if slices.Contains(o.only, everyColl) {
		ts = append(ts, verbTasks(o, budget)...)
	}
	for _, n := range o.counts {
		add("ulfm", n, "", deaths)
	}
	for _, n := range o.counts {
		add("start", n, "", nil)
	}
	if slices.Contains(o.only, overTCP) {
		ts = append(ts, tcpTasks(budget, deaths)...)
	}
	if slices.Contains(o.only, oneSided) {
		ts = append(ts, oneSidedTasks(budget)...)
	}
	return ts
}

func tcpTasks(budget, deaths []string) (ts []task) {
	add := func(between string, n int, args string, more []string) {
		ts = append(ts, task{suite: overTCP, between: between, n: n, args: append(strings.Fields(args), more...)})
	}
	add("p2p", 2, "-ops latency,rate -sizes 8,4K,64K,1M", budget)
	for _, n := range tcpCounts {
		add("coll", n, "-ops barrier,allreduce -sizes 8,64K", budget)
	}
	for _, n := range tcpCounts[1:] {
		add("ulfm", n, "", deaths)
	}
	return ts
}

const manyRanks = 16

// verbTasks are one for each collective, so that a peer that fails in one collective has the
// others.
func verbTasks(o options, budget []string) (ts []task) {
	for _, n := range o.counts {
		sizes := verbSizes
		if n > manyRanks {
			sizes = verbSizesMany
		}
		for _, v := range o.verbs {
			ts = append(ts, task{suite: everyColl, n: n, verb: v, args: append([]string{"-ops", v, "-sizes", sizes}, budget...)})
		}
	}
	return ts
}

// prefixOf is the prefix of the names of a suite's rows, "" if the rows have the names of its
// program.
func prefixOf(suite string) string {
	switch suite {
	case overTCP:
		return tcpPrefix
	case oneSided:
		return oneSidedPrefix
	}
	return ""
}

// suiteOf is the suite of a row.
func suiteOf(bench string) string {
	for _, s := range []string{overTCP, oneSided} {
		if strings.HasPrefix(bench, prefixOf(s)) {
			return s
		}
	}
	switch bench {
	case "latency", "bandwidth", "bibandwidth", "rate":
		return "p2p"
	case "barrier", "bcast", "allreduce":
		return "coll"
	case "start":
		return "start"
	}
	if slices.Contains(verbs, strings.TrimSuffix(bench, medianSuffix)) {
		return everyColl
	}
	return "ulfm"
}
