package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A round is a program and its world, both drawn from the seed.
type round struct {
	seed      uint64
	n         int
	stretches int
	uniform   bool   // the world is in uniform mode
	handler   int    // index of the world's error handler
	choice    string // of collective algorithms; empty: the table's
	exact     bool   // the launcher detects deaths exactly: processes can be spawned
	dooms     map[int]doom

	// Of processes:
	launch  []string // flags of the launcher
	env     []string // NAME=VALUE
	onecpu  bool     // all on one core
	load    bool     // another process takes a core
	strict  bool     // a rank that reports a failure fails the job
	silence bool     // processes that are silent for a long time are killed
	points  bool     // ranks are built with kill points

	node  int // the node that is killed, stopped or cut off, if ended
	ended bool
	nodes []int // by slot, simulated for goroutine ranks; nil: one node

	// Of goroutine ranks:
	victim int // dies at a frame, if frame is not 0
	frame  uint64
}

// A doom is the planned death or pause of a process.
type doom struct {
	kind  string
	step  int           // before its step-th step; atEnd: after its last step, in Finalize
	after time.Duration // the delay from there
	point uint64        // for doomPoint: at the point-th kill point from there
}

const (
	doomKill   = "kill"      // SIGKILL
	doomExit   = "exit"      // with any code, also 0
	doomPanic  = "panic"     // in the body
	doomError  = "error"     // of the body
	doomStop   = "stop"      // until it is found silent
	doomPause  = "pause"     // a short stop, usually without a death
	doomPoint  = "failpoint" // SIGKILL at a store that others see
	doomLaunch = "launcher"  // the launcher kills it at a moment
	doomMark   = "mark"      // the launcher kills it when it reaches a step
	doomFrame  = "frame"     // a goroutine rank stops before a frame
	doomNode   = "node"      // the launcher kills, stops or cuts off its node
)

const (
	atEnd      = -1
	metAlready = -2
)

const (
	ranksMin, ranksMax = 2, 12
	stretchesMax       = 6
	stepsMax           = 8 // of a stretch
)

// stream returns a random source for a purpose. Equal arguments give equal sources.
func stream(seed uint64, purpose ...uint64) *rand.Rand {
	mix := uint64(len(purpose))
	for _, p := range purpose {
		mix = (mix ^ p) * 0x9e3779b97f4a7c15
		mix ^= mix >> 29
	}
	return rand.New(rand.NewPCG(seed, mix))
}

// one returns true in one of k cases.
func one(rng *rand.Rand, k int) bool { return rng.IntN(k) == 0 }

func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

// draw makes the round of a seed.
func draw(seed uint64, mode string, points bool) *round {
	rng := stream(seed, 1)
	r := &round{seed: seed, exact: mode != modeGoroutines, stretches: 1 + rng.IntN(stretchesMax), dooms: map[int]doom{}}
	r.n = ranksMin + min(rng.IntN(ranksMax-ranksMin+1), rng.IntN(ranksMax-ranksMin+1))
	r.uniform = one(rng, 5)
	if one(rng, 4) {
		r.handler = 1 + rng.IntN(len(handlers)-1)
	}
	if one(rng, 3) {
		r.choice = drawChoice(rng)
	}
	switch mode {
	case modeGoroutines:
		r.drawGoroutines(rng, points)
	case modeProcs:
		r.drawDetector(rng)
		r.drawProcesses(rng, points)
	case modeNodes:
		hosts, each := r.drawHosts(rng)
		r.drawProcesses(rng, points)
		r.drawEndOfNode(rng, hosts, each)
	}
	return r
}

// moment draws the step of a death, usually an early one, because programs end early after errors.
func (r *round) moment(rng *rand.Rand) int {
	if one(rng, 12) {
		return atEnd
	}
	return rng.IntN(r.stretches*stepsMax/2 + 1)
}

// instant draws the delay after the beginning of that step.
func instant(rng *rand.Rand) time.Duration {
	switch rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return time.Duration(rng.IntN(3000)) * time.Microsecond
	}
	return time.Duration(rng.IntN(200)) * time.Microsecond
}

// victims draws the ranks that die: often one or none, rarely many, never all.
func (r *round) victims(rng *rand.Rand) []int {
	count := pick(rng, 0, 1, 1, 1, 2, 2, 3, rng.IntN(r.n))
	return rng.Perm(r.n)[:min(count, r.n-1)]
}

// together sometimes makes all victims die at about the same moment.
func (r *round) together(rng *rand.Rand) {
	if !one(rng, 5) {
		return
	}
	first := -2
	for _, v := range slices.Sorted(maps.Keys(r.dooms)) {
		d := r.dooms[v]
		if first == -2 {
			first = d.step
		}
		d.step = first
		if d.kind == doomKill && one(rng, 2) {
			d.after = 0
		}
		r.dooms[v] = d
	}
}

func (r *round) drawGoroutines(rng *rand.Rand, points bool) {
	if one(rng, 4) {
		for range r.n {
			r.nodes = append(r.nodes, rng.IntN(3))
		}
	}
	if one(rng, 3) && !points {
		r.victim, r.frame = rng.IntN(r.n), 1+uint64(rng.IntN(pick(rng, 10, 100, 1000)))
	}
	for _, v := range r.victims(rng) {
		if r.frame == 0 || v != r.victim {
			r.dooms[v] = doom{kind: doomKill, step: r.moment(rng), after: instant(rng)}
			if points && !one(rng, 4) {
				r.dooms[v] = doom{kind: doomPoint, step: r.moment(rng), point: 1 + uint64(rng.IntN(pick(rng, 20, 100, 300)))}
			}
		}
	}
	r.together(rng)
	if len(r.dooms) >= r.n-1 { // with the victim of the frame no rank would be left
		r.frame = 0
	}
}

const (
	suspectAfter = 250 * time.Millisecond
	pauseMax     = 100 * time.Millisecond
)

// drawDetector draws the failure detector.
func (r *round) drawDetector(rng *rand.Rand) {
	switch rng.IntN(16) {
	case 0:
		r.launch = append(r.launch, "--suspect-after", suspectAfter.String())
		r.silence = true
	case 1:
		r.launch = append(r.launch, "--suspect-after", suspectAfter.String(), "--fence")
		r.silence, r.exact = true, false
	case 2:
		r.launch = append(r.launch, "--detector", "ring", "--period", "20ms", "--timeout-factor", "10")
		r.silence, r.exact = true, false
	case 3:
		r.launch = append(r.launch, "--detector", "ring", "--period", "20ms", "--timeout-factor", "10", "--fence")
		r.silence, r.exact = true, false
	}
}

// spareSlots is the number of slots that the launcher has, beyond one more for each rank. The
// additional slots are spread evenly over the nodes.
const spareSlots = 16

// drawHosts spreads the ranks over nodes of this machine, and returns the number of nodes and the
// ranks of each.
func (r *round) drawHosts(rng *rand.Rand) (hosts, each int) {
	hosts = 1 + rng.IntN(min(r.n, 5))
	each = (r.n + hosts - 1) / hosts
	r.launch = append(r.launch, "--host", strconv.Itoa(hosts), "--ppn", strconv.Itoa(each))
	for rank := range r.n {
		r.nodes = append(r.nodes, rank/each)
	}
	later := r.n + spareSlots
	for slot := range later {
		r.nodes = append(r.nodes, slot*hosts/later)
	}
	return hosts, each
}

// drawEndOfNode may plan the end of a node, if ranks are left then. The node is killed with all its
// ranks, or stopped, or cut off from the launcher and all other nodes, or in one direction from the
// launcher. A stop or a cut lasts for less or for longer than the timeout.
func (r *round) drawEndOfNode(rng *rand.Rand, hosts, each int) {
	node := rng.IntN(hosts)
	first, last := min(node*each, r.n), min((node+1)*each, r.n)
	at := time.Duration(rng.IntN(30_000)) * time.Microsecond
	doomed := 0
	for v := range r.dooms {
		if v < first || v >= last {
			doomed++
		}
	}
	switch {
	case first == last:
	case one(rng, 4) && doomed < r.n-(last-first):
		r.launch = append(r.launch, "--kill", fmt.Sprintf("node%d@%v", node, at))
	case one(rng, 4) && doomed < r.n-(last-first):
		r.launch = append(r.launch, "--stop", fmt.Sprintf("node%d@%v+%v", node, at, pick(rng, 50*time.Millisecond, 300*time.Millisecond, 1500*time.Millisecond)))
	case one(rng, 4) && doomed < r.n-(last-first):
		r.launch = append(r.launch, "--cut", fmt.Sprintf(pick(rng, "launcher/%d", "launcher>%d", "%d>launcher"), node)+
			fmt.Sprintf("@%v+%v", at, pick(rng, 50*time.Millisecond, 300*time.Millisecond, 1500*time.Millisecond)))
	default:
		return
	}
	r.node, r.ended = node, true
	for v := first; v < last; v++ {
		if _, ok := r.dooms[v]; !ok {
			r.dooms[v] = doom{kind: doomNode}
		}
	}
}

// drawProcesses draws the world of processes, and their deaths.
func (r *round) drawProcesses(rng *rand.Rand, points bool) {
	if one(rng, 4) {
		r.launch = append(r.launch, "--agree", "era")
	}
	if one(rng, 8) {
		r.env = append(r.env, "GOGC="+pick(rng, "1", "3", "20"))
	}
	if one(rng, 8) {
		r.env = append(r.env, "GOMAXPROCS="+pick(rng, "1", "2", "4"))
	}
	if r.strict = one(rng, 2); !r.strict {
		r.launch = append(r.launch, "--survive", "any")
	}
	r.onecpu, r.load = one(rng, 12), one(rng, 20)
	r.points = points && one(rng, 3)
	kinds := []string{doomKill, doomKill, doomKill, doomKill, doomExit, doomPanic, doomError, doomLaunch, doomMark, doomPause}
	if r.silence {
		kinds = append(kinds, doomStop, doomStop, doomStop)
	}
	if r.points {
		kinds = append(kinds, doomPoint, doomPoint, doomPoint, doomPoint, doomPoint, doomPoint)
	}
	for _, v := range r.victims(rng) {
		d := doom{kind: pick(rng, kinds...), step: r.moment(rng), after: instant(rng)}
		switch d.kind {
		case doomLaunch:
			r.launch = append(r.launch, "--kill", fmt.Sprintf("%d@%v", v, time.Duration(rng.IntN(20_000))*time.Microsecond))
		case doomMark:
			d.after = 0
			r.launch = append(r.launch, "--kill", fmt.Sprintf("%d@%s=%d", v, markName, d.step))
		case doomPoint:
			d.after, d.point = 0, 1+uint64(rng.IntN(pick(rng, 20, 200, 1000)))
		case doomPause:
			d.after = 0
		}
		r.dooms[v] = d
	}
	r.together(rng)
}

// ways lists the algorithms of collectives, by verb.
var ways = [][]string{
	{"barrier=dissemination", "barrier=two-level"},
	{"bcast=binomial", "bcast=binomial:512", "bcast=knomial", "bcast=bine:1024", "bcast=chain:256", "bcast=scatter-allgather", "bcast=two-level"},
	{"reduce=binomial", "reduce=bine:512", "reduce=chain:1024", "reduce=in-order", "reduce=rabenseifner", "reduce=two-level"},
	{"allreduce=recursive-doubling", "allreduce=ring", "allreduce=ring:512", "allreduce=rabenseifner", "allreduce=reduce-bcast:512", "allreduce=two-level"},
	{"gather=binomial", "gather=linear", "gather=two-level"},
	{"scatter=binomial", "scatter=linear", "scatter=two-level"},
	{"allgather=linear", "allgather=ring", "allgather=recursive-doubling", "allgather=bruck", "allgather=neighbor-exchange", "allgather=two-level"},
	{"alltoall=linear", "alltoall=pairwise", "alltoall=bruck"},
	{"reduce-scatter=recursive-halving", "reduce-scatter=pairwise", "reduce-scatter=ring", "reduce-scatter=linear"},
	{"scan=recursive-doubling", "scan=linear:256"},
	{"exscan=recursive-doubling", "exscan=linear"},
}

// drawChoice picks algorithms for some collectives.
func drawChoice(rng *rand.Rand) string {
	var chosen []string
	for _, w := range ways {
		if one(rng, 2) {
			chosen = append(chosen, pick(rng, w...))
		}
	}
	return strings.Join(chosen, ",")
}

// String describes a round, except for its steps.
func (r *round) String() string {
	s := fmt.Sprintf("%d ranks, %d stretches", r.n, r.stretches)
	for _, v := range slices.Sorted(maps.Keys(r.dooms)) {
		d := r.dooms[v]
		s += fmt.Sprintf(", %d: %s at step %d", v, d.kind, d.step)
		if d.after > 0 {
			s += fmt.Sprintf("+%v", d.after)
		}
		if d.point > 0 {
			s += fmt.Sprintf(" point %d", d.point)
		}
	}
	if r.frame > 0 {
		s += fmt.Sprintf(", %d: at frame %d", r.victim, r.frame)
	}
	for _, more := range [][]string{r.launch, r.env} {
		for _, word := range more {
			s += " " + word
		}
	}
	for _, w := range []struct {
		on   bool
		word string
	}{{r.uniform, "uniform"}, {r.onecpu, "one core"}, {r.load, "load"}, {r.points, "kill points"}} {
		if w.on {
			s += ", " + w.word
		}
	}
	if r.handler > 0 {
		s += fmt.Sprintf(", handler %d", r.handler)
	}
	if r.choice != "" {
		s += ", " + r.choice
	}
	if r.nodes != nil && len(r.launch) == 0 {
		s += fmt.Sprintf(", nodes %v", r.nodes)
	}
	return s
}
