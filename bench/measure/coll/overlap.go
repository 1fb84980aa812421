package coll

import (
	"context"
	"fmt"
	"io"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// runOverlap measures the nonblocking twins.
func runOverlap(ctx context.Context, w *comm.Comm, p plan.Plan, out *overlapTable) error {
	k := calibrated()
	return each(w, p, func(op operation, size int) error {
		o, err := measureOverlap(ctx, w, p, op, size, k)
		if err != nil {
			return err
		}
		return out.write(o)
	})
}

// An overlap is the figures of a nonblocking collective, for each batch: in us, and in percent.
type overlap struct {
	name                           string
	n, size                        int
	overall, compute, pure, hidden []float64
}

// measureOverlap first makes one call and checks its result.
func measureOverlap(ctx context.Context, w *comm.Comm, p plan.Plan, op operation, size int, k *work) (overlap, error) {
	o := overlap{name: "i" + op.name, n: w.Size(), size: size}
	call := op.make(w, size)
	_, err := call.start().Wait(ctx)
	if err == nil {
		err = call.check()
	}
	if err == nil {
		o.pure, err = timed(ctx, w, p, size, call.around(nil, 0))
	}
	if err != nil {
		return o, err
	}
	steps := k.steps(record.Median(o.pure))
	if o.compute, err = timed(ctx, w, p, size, k.loop(steps)); err == nil {
		o.overall, err = timed(ctx, w, p, size, call.around(k, steps))
	}
	if err == nil {
		o.hidden = hidden(o.overall, o.compute, o.pure)
	}
	return o, err
}

// around is a loop of calls with steps of work between the start and the wait.
func (c call) around(k *work, steps int) func(ctx context.Context, iters int) error {
	return func(ctx context.Context, iters int) error {
		for range iters {
			r := c.start()
			if k != nil {
				k.do(steps)
			}
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// hidden is OSU's overlap, batch by batch.
func hidden(overall, compute, pure []float64) []float64 {
	percent := make([]float64, len(overall))
	for b := range overall {
		percent[b] = min(max(100*(1-(overall[b]-compute[b])/pure[b]), 0), 100)
	}
	return percent
}

// records are the four columns, for programs.
func (o overlap) records() []record.Record {
	return []record.Record{
		{Bench: o.name, N: o.n, Size: o.size, Unit: record.Micros, Batches: o.overall},
		{Bench: o.name + "_compute", N: o.n, Size: o.size, Unit: record.Micros, Batches: o.compute},
		{Bench: o.name + "_pure", N: o.n, Size: o.size, Unit: record.Micros, Batches: o.pure},
		{Bench: o.name + "_overlap", N: o.n, Size: o.size, Unit: record.Percent, Batches: o.hidden},
	}
}

// An overlapTable prints overlaps: to table as OSU's columns, or else to out.
type overlapTable struct {
	table io.Writer
	out   *record.Writer
	last  string // the operation of the line before
}

func (t *overlapTable) write(o overlap) error {
	if t.table == nil {
		for _, r := range o.records() {
			if err := t.out.Write(r); err != nil {
				return err
			}
		}
		return nil
	}
	if o.name != t.last {
		gap := "\n"
		if t.last == "" {
			gap = ""
		}
		t.last = o.name
		if _, err := fmt.Fprintf(t.table, "%s# goulfm %s, %d ranks, means of %d batches\n%-10s %15s %15s %15s %12s\n", gap, o.name, o.n, len(o.overall),
			"# Size", "Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)"); err != nil {
			return err
		}
	}
	line := []float64{}
	for _, column := range [][]float64{o.overall, o.compute, o.pure, o.hidden} {
		line = append(line, record.Summarize(column).Mean)
	}
	_, err := fmt.Fprintf(t.table, "%-10d %15.3f %15.3f %15.3f %12.2f\n", o.size, line[0], line[1], line[2], line[3])
	return err
}
