// Coll measures collectives over all ranks.
//
//	goulfm run -n 8 ./bench/coll
//	goulfm run -n 8 ./bench/coll -ops barrier,allreduce -sizes 8,64K
//
// Each figure is the mean time of a call in a batch of calls that follow each
// other without a pause, at the slowest rank of the batch.
//
// The size is that of the longest buffer of a rank, in bytes: the message of
// bcast, the vector of float64 of reduce and allreduce, and for gather, scatter,
// allgather and alltoall all parts together, of which each rank has 1/n, at least
// one byte. So every operation of 4 MiB needs the same memory for any n.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/bench/internal/batch"
	"github.com/goulfm/goulfm/bench/internal/plan"
	"github.com/goulfm/goulfm/bench/internal/record"
	"github.com/goulfm/goulfm/comm"
)

const sizes = "8,64,512,1K,4K,16K,64K,256K,1M,4M"

func main() {
	p, err := plan.Parse("coll", "Time of collectives.", names(), sizes, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "coll:", err)
		os.Exit(2)
	}
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		out := new(record.Writer)
		if w.Rank() == 0 {
			out = record.NewWriter(os.Stdout, p.Format)
		}
		return run(ctx, w, p, out)
	})
}

func run(ctx context.Context, w *comm.Comm, p plan.Plan, out *record.Writer) error {
	for _, name := range p.Ops {
		op := find(name)
		for _, size := range op.sizes(p.Sizes) {
			r, err := measure(ctx, w, p, op, size)
			if err != nil {
				return fmt.Errorf("coll: %s of %d bytes: %w", name, size, err)
			}
			if err := out.Write(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure first makes one call whose result is checked.
func measure(ctx context.Context, w *comm.Comm, p plan.Plan, op operation, size int) (record.Record, error) {
	r := record.Record{Bench: op.name, N: w.Size(), Size: size, Unit: record.Micros}
	call := op.make(w, size)
	err := call.do(ctx)
	if err == nil {
		err = call.check()
	}
	if err != nil {
		return r, err
	}
	seconds, err := batch.Run(ctx, w, p, call.loop)
	if err == nil {
		err = batch.Slowest(ctx, w, seconds)
	}
	for _, s := range seconds {
		r.Batches = append(r.Batches, s*1e6)
	}
	return r, err
}
