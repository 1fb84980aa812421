// Package p2p measures messages between ranks 0 and 1; other ranks wait meanwhile.
//
//	goulfm run -n 2 ./bench/measure p2p
//	goulfm run -n 2 ./bench/measure p2p -ops latency -sizes 8,1K,1M -time 1s
//
// The loops are those of the OSU micro-benchmarks:
//
//	latency      ping-pong; half of a round trip
//	bandwidth    64 sends at once, then the receiver answers with one byte
//	bibandwidth  the same in both directions at once, without an answer
//	rate         bandwidth of 8-byte messages, as messages per second
//
// Buffers are used again and again, so small ones stay in the cache, as OSU's.
package p2p

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

var ops = []string{"latency", "bandwidth", "bibandwidth", "rate"}

const sizes = "0,1,8,64,512,1K,4K,16K,64K,256K,1M,4M"

// rateSize is the length of a message of rate, in bytes.
const rateSize = 8

// Main is the command with these arguments.
func Main(args []string) {
	p, err := plan.Parse("./bench/measure p2p", "Latency, bandwidth and message rate between ranks 0 and 1.", ops, sizes, args)
	cli.Check("p2p", err)
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		out := record.AtRoot(w.Rank(), os.Stdout, p.Format)
		return run(ctx, w, p, out)
	})
}

func run(ctx context.Context, w *comm.Comm, p plan.Plan, out *record.Writer) error {
	if w.Size() < 2 {
		return errors.New("p2p: want at least 2 ranks: goulfm run -n 2 ./bench/measure p2p")
	}
	for _, op := range p.Ops {
		for _, size := range sizesOf(op, p.Sizes) {
			pr := newPair(w, size)
			seconds, err := batch.Run(ctx, w, p, size, pr.loop(op))
			if err == nil {
				err = pr.check(op)
			}
			if err != nil {
				return fmt.Errorf("p2p: %s of %d bytes: %w", op, size, err)
			}
			if err := out.Write(figures(op, w.Size(), size, seconds)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizesOf omits impossible sizes: there is no bandwidth of empty messages.
func sizesOf(op string, sizes []int) []int {
	if op == "latency" {
		return sizes
	}
	if op == "rate" {
		return []int{rateSize}
	}
	var some []int
	for _, s := range sizes {
		if s > 0 {
			some = append(some, s)
		}
	}
	return some
}

// figures converts seconds for one iteration to the unit of the operation.
func figures(op string, n, size int, seconds []float64) record.Record {
	r := record.Record{Bench: op, N: n, Size: size, Unit: record.MBps}
	for _, s := range seconds {
		v := 0.0
		switch op {
		case "latency":
			r.Unit, v = record.Micros, s/2*1e6
		case "bandwidth":
			v = window * float64(size) / s / 1e6
		case "bibandwidth":
			v = 2 * window * float64(size) / s / 1e6
		case "rate":
			r.Unit, v = record.Messages, window/s/1e6
		}
		r.Batches = append(r.Batches, v)
	}
	return r
}
