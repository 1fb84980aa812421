// Command overhead measures what a failure detector costs searches of Graph500 graphs, which
// communicate nearly all the time: figures 17 to 20 of Zhong, Bouteiller, Luo, Bosilca, General
// Failure Detection and Propagation in HPC and Distributed Systems (RDAEMON#), section 6.
//
//	go run ./bench/graph500/overhead                                       heartbeats between ranks, scale 16, 2 and 16 ranks
//	go run ./bench/graph500/overhead -nodes 4 -scale 10 -searches 8        between the daemons of 4 nodes of this machine
//	go run ./bench/graph500/overhead -paper -table bench/graph500/README.md    scale 20, rows into the page
//	go run ./bench/graph500/overhead -quick                                a look
//
// In each round a job without heartbeats is first, then one of each period has its turn, then one
// without again. The time of a job is that of all its searches, and of all its validations. The
// overhead of a period is (T - T0)/T0, equation (1) of the paper, in its round, where T0 is the
// mean of the two without heartbeats; sigma is what those two differ by, over all rounds.
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

// place is where the figures of a plan go.
func (p plan) place() figure.Place { return figure.Place{IDs: ids(), Dir: p.out, Page: p.table} }
