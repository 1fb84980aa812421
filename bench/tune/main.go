// Tune measures every algorithm of every collective and writes the table from which package
// collectives chooses algorithms.
//
//	goulfm run -n 8 ./bench/tune -o table.json
//	GOULFM_COLL_TABLE=table.json goulfm run -n 8 ./PROGRAM
//
// Tune measures with the first 2, 4, 8 ... ranks of the job and with all ranks; the others sleep
// meanwhile. Sizes are bytes of the vector, or of the block of one rank. A figure is the time of
// the fastest batch, each at its slowest rank: other programs on the machine only add to this time.
// To be chosen, an algorithm has to be a tenth faster than the previous one in the program's list,
// which begins with the algorithm of the fewest messages: a smaller difference is noise.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/batch"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

const sizes = "8,256,4K,32K,256K"

func main() {
	out, args := outputFlag(os.Args[1:])
	p, err := plan.Parse("tune", "Times of the algorithms of collectives, and the table that takes the fastest ([-o FILE] first).", names(), sizes, args)
	cli.Check("tune", err)
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		figures, err := sweep(ctx, w, p)
		if err != nil || w.Rank() > 0 || out == "" {
			return err
		}
		text, err := tableOf(figures)
		if err != nil {
			return err
		}
		return os.WriteFile(out, text, 0o644)
	})
}

// outputFlag takes -o FILE from the beginning of the arguments.
func outputFlag(args []string) (out string, rest []string) {
	if len(args) > 1 && args[0] == "-o" {
		return args[1], args[2:]
	}
	return "", args
}

// A figure is the time of one algorithm.
type figure struct {
	verb, algorithm string
	ranks, bytes    int
	seconds         float64
}

// sweep measures with more and more ranks.
func sweep(ctx context.Context, w *comm.Comm, p plan.Plan) (all []figure, err error) {
	out := record.AtRoot(w.Rank(), os.Stdout, p.Format)
	for _, n := range worlds(w.Size()) {
		color := comm.Undefined
		if w.Rank() < n {
			color = 0
		}
		part, err := w.Split(ctx, color, 0)
		if err != nil {
			return nil, err
		}
		if part != nil {
			figures, err := measure(ctx, part, p, out)
			if err != nil {
				return nil, err
			}
			all = append(all, figures...)
		}
		if err := rest(ctx, w, n); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// rest makes the ranks that are not needed sleep until rank 0 is done.
func rest(ctx context.Context, w *comm.Comm, n int) error {
	if w.Rank() >= n {
		_, err := comm.Recv(ctx, w.From(0), []byte{})
		return err
	}
	for rank := n; rank < w.Size() && w.Rank() == 0; rank++ {
		if err := comm.Send(ctx, w.To(rank), []byte{}); err != nil {
			return err
		}
	}
	return nil
}

// worlds are the numbers of ranks to try: powers of two, and all.
func worlds(size int) (ns []int) {
	for n := 2; n < size; n *= 2 {
		ns = append(ns, n)
	}
	return append(ns, size)
}

func measure(ctx context.Context, w *comm.Comm, p plan.Plan, out *record.Writer) (all []figure, err error) {
	for _, v := range verbs {
		if !slices.Contains(p.Ops, v.name) {
			continue
		}
		for _, size := range v.sizes(p.Sizes) {
			call := v.make(w, size)
			for _, algorithm := range v.algorithms {
				chosen := collectives.Algorithm(algorithm)
				loop := func(ctx context.Context, iters int) error {
					for range iters {
						if err := call(ctx, chosen); err != nil {
							return err
						}
					}
					return nil
				}
				seconds, err := batch.Run(ctx, w, p, size, loop)
				if err == nil {
					err = batch.Slowest(ctx, w, seconds)
				}
				if err != nil {
					return nil, fmt.Errorf("tune: %s=%s of %d bytes: %w", v.name, algorithm, size, err)
				}
				r := record.Record{Bench: v.name + "/" + algorithm, N: w.Size(), Size: size, Unit: record.Micros}
				for _, s := range seconds {
					r.Batches = append(r.Batches, s*1e6)
				}
				if err := out.Write(r); err != nil {
					return nil, err
				}
				all = append(all, figure{v.name, algorithm, w.Size(), size, slices.Min(seconds)})
			}
		}
	}
	return all, nil
}
