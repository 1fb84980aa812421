// Command overhead measures the costs of a failure detector for searches of Graph500 graphs, which
// communicate nearly all the time. These are figures 17 to 20 of Zhong, Bouteiller, Luo, Bosilca,
// General Failure Detection and Propagation in HPC and Distributed Systems (RDAEMON#), section 6.
//
// Heartbeats between ranks, at scale 16 with 2 and 16 ranks; between the daemons of 4 nodes of this
// machine; at scale 20, with rows for the page; and a short run:
//
//	go run ./bench/graph500/overhead
//	go run ./bench/graph500/overhead -nodes 4 -scale 10 -searches 8
//	go run ./bench/graph500/overhead -paper -table bench/graph500/README.md
//	go run ./bench/graph500/overhead -quick
//
// In each round a job without heartbeats is first, then one of each period has its turn, then one
// without again. The time of a job is the time of all its searches, and of all its validations. The
// overhead of a period is (T - T0)/T0, equation (1) of the paper, in its round, where T0 is the
// mean of the two jobs without heartbeats. sigma is the difference of these two, over all rounds.
//
// Each figure is a CSV and an SVG file in the folder -out, with every round as a point, and rows of
// a table on standard output.
package main

import (
	"context"
	"os"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/figure"
)

func main() {
	p, err := parse(os.Args[1:])
	cli.Check(program, err)
	cli.Run(program, func(ctx context.Context) error { return takeAll(ctx, p, os.Stdout) })
}

// place is the destination of the figures of a plan.
func (p plan) place() figure.Place { return figure.Place{IDs: ids(), Dir: p.out, Page: p.table} }
