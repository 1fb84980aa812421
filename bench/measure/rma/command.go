// Package rma measures one-sided operations between ranks 0 and 1; other ranks wait meanwhile.
//
//	goulfm run -n 2 ./bench/measure rma
//	goulfm run -n 2 ./bench/measure rma -ops put,get -sizes 8,64K,4M -time 1s
//
// Rank 0 accesses the window of rank 1. Rank 1 makes no call, except where the list states
// otherwise:
//
//	put          a put of -sizes bytes and a flush
//	put64        one of 64 puts of 8 bytes, after which there is a flush
//	get          a get of -sizes bytes
//	load, store, fetch_add, cas    of 8 bytes
//	accumulate   a sum of float64, -sizes bytes
//	bulk         accumulate in a window made with Bulk
//	own_put, own_get    put and get in a window in the program's memory
//	lock         an exclusive lock and its unlock
//	lock_both    the same while rank 1 does it, too
//	fence        of all ranks
//	post         post, start, complete and wait of ranks 0 and 1 with each other
//	flag         8 bytes and a flag, one way: half of the way there and back, both ranks in turns
//	notify       the same by notified puts
//	busy         a put of 8 bytes and a flush, while rank 1 computes
//	shmem_put    as put of 8 bytes, in a symmetric heap, with Quiet
//	shmem_inc    an atomic increment there
//	shmem_lock   a lock there and its unlock
//
// bench/peers/rma.c is the twin of this package; bench/compare -only rma measures both. Buffers are
// used repeatedly, so small ones stay in the cache.
package rma

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/batch"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

var ops = []string{"put", "put64", "get", "load", "store", "fetch_add", "cas", "accumulate", "bulk", "own_put", "own_get", "lock", "lock_both", "fence", "post", "flag", "notify", "busy",
	"shmem_put", "shmem_inc", "shmem_lock"}

const sizes = "8,1K,4K,64K,1M,4M"

// Main is the command with these arguments.
func Main(args []string) {
	p, err := plan.Parse("./bench/measure rma", "One-sided operations between ranks 0 and 1.", ops, sizes, args)
	cli.Check("rma", err)
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		return run(ctx, w, p, record.AtRoot(w.Rank(), os.Stdout, p.Format))
	})
}

func run(ctx context.Context, w *comm.Comm, p plan.Plan, out *record.Writer) error {
	if w.Size() < 2 {
		return errors.New("rma: want at least 2 ranks: goulfm run -n 2 ./bench/measure rma")
	}
	for _, op := range p.Ops {
		for _, size := range sizesOf(op, p.Sizes) {
			b, err := newBench(ctx, w, op, size)
			if err != nil {
				return fmt.Errorf("rma: windows of %d bytes: %w", size, err)
			}
			seconds, err := batch.Run(ctx, w, p, size, b.loop(op))
			if err == nil {
				err = b.check(ctx, op)
			}
			if err != nil {
				return fmt.Errorf("rma: %s of %d bytes: %w", op, size, err)
			}
			if err := out.Write(figures(op, w.Size(), size, seconds)); err != nil {
				return err
			}
			if err := b.free(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizesOf returns the sizes of an operation that has any.
func sizesOf(op string, sizes []int) (some []int) {
	switch op {
	case "put", "get", "accumulate", "bulk", "own_put", "own_get":
		for _, s := range sizes {
			if s >= 8 && s%8 == 0 {
				some = append(some, s)
			}
		}
		return some
	case "lock", "lock_both", "fence", "post", "shmem_lock":
		return []int{0}
	}
	return []int{8}
}

// figures converts seconds for one iteration to the unit of the operation.
func figures(op string, n, size int, seconds []float64) record.Record {
	r := record.Record{Bench: op, N: n, Size: size, Unit: record.Micros}
	for _, s := range seconds {
		switch op {
		case "put64":
			s /= manyPuts
		case "flag", "notify":
			s /= 2
		}
		r.Batches = append(r.Batches, s*1e6)
	}
	return r
}
