package main

import "strings"

// A target is the value that a row should reach.
type target struct {
	Against string  `json:"against"` // reference, best or itself
	Op      string  `json:"op"`      // <= or >=
	Bound   float64 `json:"bound"`   // of ours divided by theirs
}

// The divisor of goulfm's figure.
const (
	reference = "reference" // the first peer
	best      = "best"      // the best peer of each round, without the cgo twins
	itself    = "itself"    // nothing: the figure is a ratio already
)

// targetOf returns the target of a row, or false if the row has none.
func targetOf(k key) (target, bool) {
	if bare, ok := strings.CutPrefix(k.bench, tcpPrefix); ok {
		return tcpTarget(bare, k)
	}
	if op, ok := strings.CutPrefix(k.bench, oneSidedPrefix); ok {
		return oneSidedTarget(op, k.size)
	}
	switch k.bench {
	case "latency":
		return latencyTarget(k.size)
	case "rate":
		return target{reference, ">=", 1}, true
	case "bandwidth":
		if k.size == 4<<10 {
			return target{best, ">=", 1}, true
		}
		return target{reference, ">=", 1.5}, k.size == 1<<20
	case "barrier":
		return smallTarget(k.n), true
	case "allreduce", "bcast":
		if k.size == 8 {
			return smallTarget(k.n), k.bench == "allreduce"
		}
		return target{reference, "<=", 0.7}, k.n <= 16 && (k.size == 64<<10 || k.size == 1<<20)
	case perAllreduce:
		return target{itself, "<=", 1.5}, true
	}
	if suiteOf(k.bench) == everyColl {
		return verbTarget(k)
	}
	if bound, ok := deathBounds[k.bench]; ok { // of two ranks one survives, and has nobody to agree with
		return target{reference, "<=", bound}, k.n >= 8
	}
	bound, ok := bounds[k.bench]
	return target{reference, "<=", bound}, ok
}

func latencyTarget(size int) (target, bool) {
	switch size {
	case 8:
		return target{reference, "<=", 0.75}, true
	case 1 << 10, 4 << 10, 16 << 10:
		return target{best, "<=", 1}, true
	case 64 << 10, 1 << 20, 4 << 20:
		return target{reference, "<=", 0.65}, true
	}
	return target{}, false
}

// tcpTarget is the target of a row between nodes.
func tcpTarget(bench string, k key) (target, bool) {
	if bench == "rate" {
		return target{reference, ">=", 10}, true
	}
	bound, ok := tcpBounds[tcpRow{bench, k.n, k.size}]
	return target{reference, "<=", bound}, ok
}

// A tcpRow is a row of the suite over TCP, without its prefix.
type tcpRow struct {
	bench   string
	n, size int
}

var tcpBounds = map[tcpRow]float64{
	{"latency", 2, 8}: 0.85, {"latency", 2, 4 << 10}: 0.9, {"latency", 2, 64 << 10}: 0.75, {"latency", 2, 1 << 20}: 1,
	{"barrier", 2, 0}: 1, {"barrier", 4, 0}: 0.8, {"barrier", 8, 0}: 0.6,
	{"allreduce", 2, 8}: 1, {"allreduce", 4, 8}: 0.8, {"allreduce", 8, 8}: 0.6, {"allreduce", 8, 64 << 10}: 0.8,
	{"agree", 4, 0}: 0.8, {"agree", 8, 0}: 0.8, {"shrink", 4, 0}: 0.5, {"shrink", 8, 0}: 0.5,
	{"detect", 4, 0}: 0.5, {"detect", 8, 0}: 0.5, {"revoke", 4, 0}: 1, {"revoke", 8, 0}: 0.4,
}

// smallTarget is the target of collectives without much data. Two ranks have a core each on the
// smallest machine; with more ranks the cost is the waiting.
func smallTarget(n int) target {
	if n == 2 {
		return target{reference, "<=", 1}
	}
	return target{reference, "<=", 0.5}
}

// verbTarget bounds the median over the sizes and, more weakly, each size. Above manyRanks only the
// median has a bound.
func verbTarget(k key) (target, bool) {
	isMedian := strings.HasSuffix(k.bench, medianSuffix)
	switch {
	case isMedian && k.n <= manyRanks:
		return target{reference, "<=", 0.8}, true
	case isMedian:
		return target{reference, "<=", 0.5}, true
	}
	return target{reference, "<=", 1.2}, k.n <= manyRanks
}

var (
	bounds      = map[string]float64{"agree": 0.5, "start": 0.2}
	deathBounds = map[string]float64{"detect": 0.1, "agree_detecting": 0.1, "ack_agree": 0.5, "shrink": 0.25, "revoke": 0.5}
)
