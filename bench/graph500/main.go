// Graph500 searches graphs of the Graph500 benchmark breadth first, validates every search, and goes on when ranks are
// killed on the way.
//
//	goulfm run -n 4 ./bench/graph500 -scale 16
//	goulfm run -n 8 --kill 3@level=2 --kill 5@level=3 ./bench/graph500 -scale 16 -roots 4
//
// There is one variant as yet, claim: each vertex has a word in the memory of its rank, into which whoever finds the vertex first
// puts its level and its parent by compare-and-swap. That word is the only truth: a search that has lost a rank is resumed at the lowest
// level that somebody had not finished, and nothing that was found is found again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/goulfm/goulfm/bench/internal/kron"
	"github.com/goulfm/goulfm/comm"
)

func main() {
	scale := flag.Int("scale", 14, "the graph has 2^scale vertices, and 16 edges for each")
	roots := flag.Int("roots", 64, "how many searches")
	flag.Parse()
	if *scale < 4 || *scale > 30 || *roots < 1 || *roots > 64 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "graph500: want -scale of 4 to 30, -roots of 1 to 64, and no other argument (-h for help)")
		os.Exit(2)
	}
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		r, err := run(ctx, w, *scale, *roots)
		if err == nil && r.first {
			r.print(*scale, w.Size())
		}
		return err
	})
}

// report is what a run found.
type report struct {
	first        bool // this rank prints
	ranks        int  // that are left
	construction time.Duration
	searches     []found
	repairs      int
	lost         time.Duration // in repairs
}

// found is one search.
type found struct {
	root   uint64
	took   time.Duration
	edges  uint64   // with both ends in the tree, loops and repeated ones included
	levels []uint64 // vertices at each
}

// run makes the graph and searches it from the first roots of the reference.
func run(ctx context.Context, w *comm.Comm, scale, roots int) (r report, err error) {
	began := time.Now()
	g, err := build(ctx, w, kron.New(scale))
	if err != nil {
		return r, err
	}
	r.construction = time.Since(began)
	starts, err := g.roots(ctx, roots)
	if err != nil {
		return r, err
	}
	for _, root := range starts {
		var f found
		if g, f, err = g.searched(ctx, root, &r); err != nil {
			return r, err
		}
		r.searches = append(r.searches, f)
	}
	r.first, r.ranks = g.c.Rank() == 0, g.c.Size()
	return r, g.free()
}

// searched makes one search, over any number of deaths, and validates it. It returns the graph as it is
// after the last repair.
func (g *graph) searched(ctx context.Context, root uint64, r *report) (*graph, found, error) {
	f := found{root: root}
	s := search{root: root}
	for {
		began := time.Now()
		work := s.run(ctx, g)
		f.took += time.Since(began)
		if work == nil {
			work = g.validate(ctx, root, &f)
		}
		ok, err := g.c.AllOK(ctx, work)
		if ok {
			return g, f, nil
		}
		if err := errors.Join(err, work); err != nil && !comm.Recoverable(err) {
			return g, f, err
		}
		began = time.Now()
		if g, err = g.repaired(ctx); err != nil {
			return g, f, err
		}
		if err := s.resume(ctx, g); err != nil && !comm.Recoverable(err) {
			return g, f, err
		}
		r.repairs++
		r.lost += time.Since(began)
	}
}

// print writes the keys that the specification of the benchmark wants, and what deaths have cost.
func (r *report) print(scale, ranks int) {
	fmt.Printf("SCALE: %d\nedgefactor: %d\nNBFS: %d\nnum_mpi_processes: %d\nconstruction_time: %.6f\n",
		scale, kron.EdgeFactor, len(r.searches), ranks, r.construction.Seconds())
	inverse, sum := 0.0, 0.0
	least, most := math.Inf(1), 0.0
	for _, f := range r.searches {
		t := f.took.Seconds()
		inverse += t / float64(f.edges)
		sum += t
		least, most = min(least, t), max(most, t)
	}
	n := float64(len(r.searches))
	fmt.Printf("min_time: %.6f\nmax_time: %.6f\nmean_time: %.6f\nharmonic_mean_TEPS: %.6g\n", least, most, sum/n, n/inverse)
	fmt.Printf("vertices per level, root %d: %v\n", r.searches[0].root, r.searches[0].levels)
	fmt.Printf("validated: %d searches; %d ranks of %d left, %d repairs, %v in them\n", len(r.searches), r.ranks, ranks, r.repairs, r.lost.Round(time.Microsecond))
}
