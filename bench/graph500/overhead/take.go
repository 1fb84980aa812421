package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/heartbeats"
	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/machine"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/turns"
)

// A runner runs one job of the given number of ranks, with heartbeats of a period, and returns its
// records.
type runner func(ctx context.Context, variant string, ranks int, period time.Duration) ([]record.Record, error)

// takeAll takes the figures of each variant.
func takeAll(ctx context.Context, p plan, out io.Writer) error {
	var err error
	if p.load, err = machine.Quiet(p.busy); err != nil {
		return err
	}
	bin, remove, err := job.BuildTemp(ctx, "overhead", "bench/graph500")
	if err != nil {
		return err
	}
	defer remove()
	run := func(ctx context.Context, variant string, ranks int, period time.Duration) ([]record.Record, error) {
		res, err := job.Run(ctx, p.limit, bin.Program("graph500", ranks, p.flags(ranks, period),
			[]string{"-json", "-scale", strconv.Itoa(p.scale), "-roots", strconv.Itoa(p.searches), "-variant", variant}))
		return res.Records, err
	}
	for _, variant := range p.variants {
		t, err := p.take(ctx, variant, run)
		if err != nil {
			return err
		}
		for _, s := range subjectsOf(variant) {
			if err := p.place().Put(p.draw(s, t), out); err != nil {
				return err
			}
		}
	}
	return nil
}

// settings are the periods that have their turns in a round: none is first and last.
func (p plan) settings() []time.Duration {
	return slices.Concat([]time.Duration{heartbeats.Off}, p.periods, []time.Duration{heartbeats.Off})
}

// take gives each period its turn in each round.
func (p plan) take(ctx context.Context, variant string, run runner) (*turns.Turns, error) {
	settings := p.settings()
	t := turns.New(len(settings), 0, len(settings)-1)
	for _, n := range p.ranks {
		for round := range p.rounds {
			for _, i := range turns.Order(len(settings), round) {
				records, err := run(ctx, variant, n, settings[i])
				if err == nil {
					err = addTo(t, i, records)
				}
				if err != nil {
					return nil, fmt.Errorf("%s, %d ranks, period %v, round %d: %w", variant, n, settings[i], round+1, err)
				}
			}
			fmt.Fprintf(os.Stderr, program+": %s, %d ranks, round %d of %d: done\n", variant, n, round+1, p.rounds)
		}
	}
	return t, nil
}

// errRun is the error of a job without the expected records.
var errRun = errors.New("not a time of searches")

// addTo adds the time of one job for all its searches, and for all its validations.
func addTo(t *turns.Turns, setting int, records []record.Record) error {
	if len(records) != 2 {
		return fmt.Errorf("%w: %d records instead of one of searches and one of validations", errRun, len(records))
	}
	for _, r := range records {
		if r.Wrong != "" {
			return fmt.Errorf("%w: %s: %s", errRun, r.Bench, r.Wrong)
		}
		sum := 0.0
		for _, v := range r.Batches {
			sum += v
		}
		t.Add(setting, turns.KindOf(r), sum)
	}
	return nil
}
