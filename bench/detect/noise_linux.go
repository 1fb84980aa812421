package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/heartbeats"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/turns"
)

var noisePeriods = []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second}

// A noiseProgram is a program that heartbeats may disturb.
type noiseProgram func(n int, period time.Duration) []string

// messagesNoise is D7: latency between two nodes, and allreduce (PARCO 2019, section 5.3, figure
// 7).
func (b *bench) messagesNoise(ctx context.Context) (*figure.Figure, error) {
	f := &figure.Figure{ID: "D7", Title: "D7: time of messages with heartbeats between daemons, over that without", XLabel: "period P, ms", YLabel: "overhead, %"}
	n := b.sizes([]int{4}, []int{2})[0]
	budget := []string{"-json", "-time", b.slice().String()}
	measure := func(command string, n int, args ...string) noiseProgram {
		return func(_ int, period time.Duration) []string {
			return b.bin.Command(command, n, heartbeats.BetweenNodes(n, 1, period), append(args, budget...))
		}
	}
	return f, b.noise(ctx, f, "P ≥ 10 ms: within natural variation; P = 1 ms: up to 3 % of ping-pong, below 8 % of collectives (band 4 %)", n,
		measure("p2p", 2, "-ops", "latency", "-sizes", "8,64K"), measure("coll", n, "-ops", "allreduce", "-sizes", "8,64K"))
}

// workNoise is D8: a program that computes, a rank for each node (SC 2016, figure 8: HPL).
func (b *bench) workNoise(ctx context.Context) (*figure.Figure, error) {
	f := &figure.Figure{ID: "D8", Title: "D8: time of computing beside daemons with heartbeats, over that without", XLabel: "period P, ms", YLabel: "overhead, %"}
	n := b.sizes([]int{2}, []int{2})[0]
	return f, b.noise(ctx, f, "HPL, detector of ULFM: none for P ≥ 100 ms, below 2 % for less", n, func(n int, period time.Duration) []string {
		argv := slices.Concat([]string{b.goulfm(), "run", "-q"}, heartbeats.BetweenNodes(n, 1, period))
		return append(argv, b.self, beRank, roleWork, fmt.Sprint(b.slice().Seconds()))
	})
}

// slice is the time of one operation of one turn: long enough for many heartbeats of all but the
// longest periods.
func (b *bench) slice() time.Duration {
	if b.quick {
		return 300 * time.Millisecond
	}
	return 2 * time.Second
}

// noise gives each setting its turn in each round. First and last are without heartbeats: their
// difference is the natural variation.
func (b *bench) noise(ctx context.Context, f *figure.Figure, paper string, n int, programs ...noiseProgram) error {
	periods := slices.Concat([]time.Duration{heartbeats.Off}, noisePeriods, []time.Duration{heartbeats.Off})
	t := turns.New(len(periods), 0)
	runs := b.runsOr(9, 2)
	for run := range runs {
		for i, p := range periods {
			for _, argv := range programs {
				res, err := job.Run(ctx, b.limit, argv(n, p))
				if err != nil {
					return err
				}
				for _, r := range res.Records {
					t.Add(i, turns.KindOf(r), r.Summary().Median)
				}
			}
		}
		say("%s, round %d of %d: done", f.ID, run+1, runs)
	}
	for _, of := range t.Kinds {
		if of.Bench == benchDaemon {
			shareRow(f, t, of, runs)
		} else {
			overheadRow(f, t, of, paper, runs)
		}
	}
	return nil
}

// overheadRow is the extra time of one kind of operation.
func overheadRow(f *figure.Figure, t *turns.Turns, of turns.Kind, paper string, runs int) {
	c, text := f.Add(of.String(), true), ""
	for i, p := range noisePeriods {
		over := 100 * record.Median(t.Overheads(of, i+1))
		c.At(millis(p), over)
		text += fmt.Sprintf("%s%+.1f %% (P %v)", sep(i), over, p)
	}
	f.Row(fmt.Sprintf("%s: overhead (medians of %d rounds)", of, runs), paper, "%s; a second turn without: %s", text, spanPercent(t.Overheads(of, 1+len(noisePeriods))))
}

// shareRow is the share of a core that daemons take, which other programs of the machine change
// little.
func shareRow(f *figure.Figure, t *turns.Turns, of turns.Kind, runs int) {
	c, text := f.Add("CPU time of a daemon, % of a core", true), ""
	for i, p := range noisePeriods {
		share := record.Median(t.Of(of, i+1)) / 1e4 // us in a second
		c.At(millis(p), share)
		text += fmt.Sprintf("%s%.3f %% (P %v)", sep(i), share, p)
	}
	f.Row(fmt.Sprintf("CPU time of a daemon, %% of a core (medians of %d rounds)", runs), "", "%s; without heartbeats %.3f %%", text, record.Median(t.Of(of, 0))/1e4)
}
