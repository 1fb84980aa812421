package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/nodes"
)

const simNodesUsage = `
jobs on several machines, instead:
  -nodes N       N runs of jobs on several nodes, with daemons that watch
                 each other, leases, connections that break, ways that are cut,
                 machines that pause or die, launchers that are survived or not.
                 With -seed, -workers, -v, -replay, -events, -shrink, and -n (nodes,
                 2 to 8)
  -faults LIST   of one run: only these faults of its plan, "0,3", or none
`

// parseFaultNumbers reads the numbers of faults; nil: all.
func parseFaultNumbers(text string) ([]int, error) {
	switch text {
	case "":
		return nil, nil
	case "none":
		return []int{}, nil
	}
	var faults []int
	for _, word := range strings.Split(text, ",") {
		f, err := strconv.Atoi(word)
		if err != nil || f < 0 {
			return nil, fmt.Errorf("-faults %s: want numbers with commas between them, or none", text)
		}
		faults = append(faults, f)
	}
	return faults, nil
}

// severalNodes simulates jobs on several machines.
func (j *simJob) severalNodes() int {
	faults, err := parseFaultNumbers(j.faults)
	o := nodes.Options{Seed: j.options.Seed, Nodes: j.options.N, Faults: faults}
	switch {
	case err != nil:
		return simUsageError("%v", err)
	case o.Nodes != 0 && o.Nodes < 2 || o.Nodes > nodes.Max:
		return simUsageError("-nodes with -n %d: want 2 to %d", o.Nodes, nodes.Max)
	case j.replay != 0:
		o.Seed = j.replay
		return j.oneOfNodes(o)
	}
	start, progress := time.Now(), j.beginMany()
	if j.verbose {
		o.Done = func(r nodes.Report) { fmt.Printf("seed %d: %s\n", r.Seed, nodesSummary(r)) }
	}
	total, err := nodes.RunMany(o, j.workers, func(t nodes.Total) bool {
		progress("%d of %d runs, %d agreements, %d nodes declared\n", t.Runs, j.nodes, t.Agreements, t.Lost)
		return t.Runs >= j.nodes
	})
	took := time.Since(start).Seconds()
	fmt.Printf("%d runs, %d agreements, %d shrinks, %d revocations, %d faults, %d deaths of ranks, %d nodes declared (%d of them lived), %d other coordinators, %d freezes (%d thaws), %d ranks that found the lease over, %d connections opened, %d broken, %d frames in %.1f s: %.0f runs/s, %.0f agreements/s, %.2f s of virtual time\n",
		total.Runs, total.Agreements, total.Shrinks, total.Revokes, total.Faults, total.Deaths, total.Lost, total.Wronged, total.Coordinators, total.Freezes, total.Thaws, total.Halts, total.Opened, total.Broken, total.Frames, took,
		float64(total.Runs)/took, float64(total.Agreements)/took, float64(total.Time)/float64(mono.Second))
	fmt.Printf("%d jobs could not continue, without a launcher or a majority; %d nodes ended themselves; ranks of declared nodes made %d steps before their daemon had its turn, %d learned that they are dead\n", total.Stopped, total.Ended, total.Zombies, total.Refused)
	return verdict(err)
}

// oneOfNodes executes one run. With -shrink it removes faults from a run that fails.
func (j *simJob) oneOfNodes(o nodes.Options) int {
	if j.events {
		o.Trace = func(line string) { fmt.Println(line) }
	}
	report, err := nodes.Run(o)
	fmt.Println(nodesSummary(report))
	v, broken := errors.AsType[*nodes.Violation](err)
	switch {
	case j.shrink && broken:
		err = nodes.Shrink(v)
	case j.shrink:
		fmt.Println("nothing to shrink")
	}
	return verdict(err)
}

func nodesSummary(r nodes.Report) string {
	return fmt.Sprintf("trace hash %016x: %d agreements, %d faults, %d deaths of ranks, %d nodes declared, %d steps in %v, %s", r.Hash, r.Agreements, r.Faults, r.Deaths, r.Lost, r.Steps, r.Time, r.Plan)
}
