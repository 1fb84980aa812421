// Package ulfm measures the cost of a failure, phase by phase: the last rank dies by SIGKILL on the
// way.
//
//	goulfm run -n 8 ./bench/measure ulfm
//
//	agree             agreements without a failure
//	allreduce_before  8-byte reductions on the same communicator, for comparison
//	detect            from the death until a receive from any rank has failed
//	agree_detecting   the agreement that reports the death
//	ack_agree         acknowledge it and agree
//	shrink            the communicator of the survivors
//	agree_shrunk      agreements there
//	allreduce_shrunk  reductions there
//	revoke            from Revoke until a receive has failed
//
// Figures from detect to shrink and revoke are those of the slowest survivor, one for each run of
// the program; agreements are batches, timed at rank 0. The clock of the machine is used, so all
// ranks must be on one machine.
package ulfm

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	batches int
	iters   int           // 0: by the number of ranks
	lead    time.Duration // from the announcement of a death or a revocation until it happens
	json    bool
}

// Main is the command with these arguments.
func Main(args []string) {
	o, err := parse(args)
	cli.Check("ulfm", err)
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		out := record.AtRoot(w.Rank(), os.Stdout, o.format())
		b := &bench{options: o, w: w, out: out, die: trial.Die}
		return b.run(ctx)
	})
}

func parse(args []string) (options, error) {
	var o options
	fs := cli.Flags("ulfm", "usage: goulfm run -n RANKS ./bench/measure ulfm [flags]\nThe costs of a failure; the last rank dies.", os.Stderr)
	fs.IntVar(&o.batches, "batches", 15, "batches of agreements and of reductions")
	fs.IntVar(&o.iters, "iters", 0, "agreements in a batch; 0 for 200 up to 8 ranks, 50 up to 32, else 15")
	fs.DurationVar(&o.lead, "lead", 300*time.Millisecond, "how long ahead a death and a revocation are announced: everybody must wait by then")
	fs.BoolVar(&o.json, "json", false, "print one line of JSON for each phase")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.batches < 1 || o.iters < 0 || o.lead < 0 || fs.NArg() > 0 {
		return o, errors.New("want -batches from 1 up, -iters and -lead from 0 up, no other argument")
	}
	return o, nil
}

func (o options) format() record.Format {
	if o.json {
		return record.JSON
	}
	return record.Table
}

// itersOf is the number of agreements in a batch.
func (o options) itersOf(n int) int {
	switch {
	case o.iters > 0:
		return o.iters
	case n <= 8:
		return 200
	case n <= 32:
		return 50
	}
	return 15
}
