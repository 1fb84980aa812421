package main

import (
	"fmt"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/repairs"
)

const simRepairsUsage = `
worlds that outlive their processes, instead:
  -repairs N     jobs whose ranks die and are replaced, with commits, copies, what is
                 saved outside of versions, files from which jobs are started anew,
                 and data that change unseen; stop after N repairs.
                 With -seed, -workers, -v, -replay, -events, and -n (1 to 16)
`

// repair simulates worlds that outlive their processes.
func (j *simJob) repair() int {
	o := repairs.Options{Seed: j.options.Seed, N: j.options.N}
	if o.N > repairs.RanksMax {
		return simUsageError("-repairs with -n %d: want 1 to %d", o.N, repairs.RanksMax)
	}
	if j.replay != 0 {
		o.Seed = j.replay
		if j.events {
			o.Trace = func(line string) { fmt.Println(line) }
		}
		report, err := repairs.Run(o)
		fmt.Println(repairSummary(report))
		return verdict(err)
	}
	start, progress := time.Now(), j.beginMany()
	if j.verbose {
		o.Done = func(r repairs.Report) { fmt.Printf("seed %d: %s\n", r.Seed, repairSummary(r)) }
	}
	total, err := repairs.RunMany(o, j.workers, func(t repairs.Total) bool {
		progress("%d runs, %d of %d repairs, %d deaths\n", t.Runs, t.Repairs, j.repairs, t.Deaths)
		return t.Repairs >= j.repairs
	})
	took := time.Since(start).Seconds()
	fmt.Printf("%d runs, %d repairs, %d deaths, %d processes started (%d in slots that others had had, %d requests refused), %d commits, %d versions restored, %d parts out of parity, %d out of node memory, %d nodes lost with theirs, %d saves, %d worlds that shrank, %d orphans, %d shrinks made again in %.1f s: %.0f repairs/s, %.0f deaths/s, %.0f steps/s, %.2f s of virtual time\n",
		total.Runs, total.Repairs, total.Deaths, total.Started, total.Reused, total.Refused, total.Commits, total.Restored, total.Rebuilt, total.Inherited, total.NodesLost, total.Saves, total.Shrunk, total.Orphans, total.Again, took,
		float64(total.Repairs)/took, float64(total.Deaths)/took, float64(total.Steps)/took, float64(total.Time)/float64(mono.Second))
	f, s := total.Files, total.Silent
	fmt.Printf("files: %d versions published, %d deleted, %d given up by a process; %d jobs started anew, %d processes continued from files, %d of them in a world of another size, %d could not read theirs\n", f.Written, f.Deleted, f.Abandoned, f.Lives, f.Restored, f.Dealt, f.Spoiled)
	fmt.Printf("%d changes unseen: %d attempts learned that values differ, %d processes found that a replay does; %d boundaries missed it\n", s.Flipped, s.Replicas, s.Replays, s.Unseen)
	fmt.Printf("%d runs ended with all ranks done, %d with a stop, %d with an error of a rank or lost data, %d with too few processes, %d with the death of all\n", total.Done, total.Stopped, total.Peer, total.TooFew, total.No)
	return verdict(err)
}

func repairSummary(r repairs.Report) string {
	return fmt.Sprintf("trace hash %016x: %d repairs, %d deaths, %d commits, %d versions restored, %d steps in %v, ended: %q, %s", r.Hash, r.Repairs, r.Deaths, r.Commits, r.Restored, r.Steps, r.Time, r.Ending, r.Plan)
}
