// Package coll measures collectives over all ranks.
//
//	goulfm run -n 8 ./bench/measure coll
//	goulfm run -n 8 ./bench/measure coll -ops barrier,allreduce -sizes 8,64K
//	goulfm run -n 8 ./bench/measure coll -nonblocking -ops allreduce
//
// Each figure is the mean time of a call in a batch of calls that follow each
// other without a pause, at the slowest rank of the batch.
//
// Sizes are bytes, with the meaning of OSU's programs: the message of bcast, the vector of float64
// of reduce, allreduce and scan, all of the vector that reduce_scatter combines and cuts, and the
// block of one rank in gather, scatter, allgather and alltoall. A vector, and a part of one, has at
// least one number. A size is left out if the buffers of a rank would take more than 256 MiB.
//
// # Overlap
//
// With -nonblocking coll measures the twins that return a request, and prints OSU's columns. The
// column overall is the time from the start to the end of the wait with a computation in between.
// The column compute is the time of the computation alone, and pure the time of start and wait
// alone. The last column is the part of the communication that the computation hides:
//
//	overlap = 100% * (1 - (overall - compute) / pure), from 0 to 100
//
// The computation is a loop at each rank that takes as long as the communication where a rank has a
// core. Each of the three has batches of its own, so that the clock is read twice for a batch here,
// too. With -csv and -json they are four records.
package coll

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/batch"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

const sizes = "8,64,512,1K,4K,16K,64K,256K,1M,4M"

// Main is the command with these arguments.
func Main(args []string) {
	nonblocking := false
	p, err := plan.Parse("./bench/measure coll", "Time of collectives, each at the slowest rank.", names(), sizes, args, func(fs *flag.FlagSet) {
		fs.BoolVar(&nonblocking, "nonblocking", false, "the nonblocking twins, and the part of them that a computation hides")
	})
	cli.Check("coll", err)
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		out := record.AtRoot(w.Rank(), os.Stdout, p.Format)
		if !nonblocking {
			return run(ctx, w, p, out)
		}
		t := &overlapTable{out: out}
		if w.Rank() == 0 && p.Format == record.Table {
			t = &overlapTable{table: os.Stdout}
		}
		return runOverlap(ctx, w, p, t)
	})
}

func run(ctx context.Context, w *comm.Comm, p plan.Plan, out *record.Writer) error {
	return each(w, p, func(op operation, size int) error {
		r, err := measure(ctx, w, p, op, size)
		if err != nil {
			return err
		}
		return out.Write(r)
	})
}

// each calls f for every operation of the plan and each of its sizes.
func each(w *comm.Comm, p plan.Plan, f func(op operation, size int) error) error {
	for _, name := range p.Ops {
		op := find(name)
		for _, size := range op.sizes(w.Size(), p.Sizes) {
			if err := f(op, size); err != nil {
				return fmt.Errorf("coll: %s of %d bytes: %w", name, size, err)
			}
		}
	}
	return nil
}

// measure first makes one call and checks its result.
func measure(ctx context.Context, w *comm.Comm, p plan.Plan, op operation, size int) (record.Record, error) {
	r := record.Record{Bench: op.name, N: w.Size(), Size: size, Unit: record.Micros}
	call := op.make(w, size)
	err := call.do(ctx)
	if err == nil {
		err = call.check()
	}
	if err == nil {
		r.Batches, err = timed(ctx, w, p, size, call.loop)
	}
	return r, err
}

// timed returns the mean time of an iteration in us, for each batch, at the slowest
// rank.
func timed(ctx context.Context, w *comm.Comm, p plan.Plan, size int, loop batch.Loop) ([]float64, error) {
	times, err := batch.Run(ctx, w, p, size, loop)
	if err == nil {
		err = batch.Slowest(ctx, w, times)
	}
	for b := range times {
		times[b] *= 1e6
	}
	return times, err
}
