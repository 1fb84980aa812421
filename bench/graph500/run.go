package main

import (
	"context"
	"errors"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/kron"
)

// report is the results of a run.
type report struct {
	first        bool // this rank prints
	ranks        int  // ranks that are left
	construction time.Duration
	searches     []found
	repairs      int
	lost         time.Duration // in repairs
}

// found is one search.
type found struct {
	root   uint64
	took   time.Duration
	valid  time.Duration // the validation took
	edges  uint64        // with both ends in the tree, loops and repeated ones included
	levels []uint64      // vertices at each; of kernel 3: of all
}

// kernel is a search, over any number of attempts.
type kernel interface {
	run(ctx context.Context, g *graph) error
	// resume comes after each repair. If resume fails at one rank, the call fails at all, or is
	// repeated.
	resume(ctx context.Context, g *graph) error
}

// run makes the graph and searches from the first roots of the reference.
func run(ctx context.Context, w *comm.Comm, o options) (r report, err error) {
	began := time.Now()
	g, starts, err := started(ctx, w, o, &r)
	if err != nil {
		return r, err
	}
	r.construction = time.Since(began)
	for k, root := range starts {
		var f found
		if g, f, err = g.searched(ctx, root, k, o.kernel, &r); err != nil {
			return r, err
		}
		r.searches = append(r.searches, f)
	}
	r.first, r.ranks = g.c.Rank() == 0, g.c.Size()
	return r, g.free()
}

// started makes the graph; if ranks die meanwhile, the survivors make the graph again.
func started(ctx context.Context, c *comm.Comm, o options, r *report) (g *graph, roots []uint64, err error) {
	for {
		g, failure := build(ctx, c, kron.New(o.scale), variants[o.variant])
		if failure == nil {
			roots, failure = g.roots(ctx, o.roots)
		}
		ok, err := c.AllOK(ctx, failure)
		if ok {
			return g, roots, nil
		}
		if err := errors.Join(err, failure); err != nil && !comm.Recoverable(err) {
			return nil, nil, err
		}
		if err := g.free(); err != nil {
			return nil, nil, err
		}
		if c, err = c.Shrink(ctx); err != nil {
			return nil, nil, err
		}
		r.repairs++
	}
}

// stepOf numbers the levels of all searches, as points at which ranks can be killed.
func stepOf(search, level int) int { return 1000*search + level }

// searched makes the k-th search, over any number of deaths, and validates the result. It returns
// the graph after the last repair.
func (g *graph) searched(ctx context.Context, root uint64, k, number int, r *report) (*graph, found, error) {
	f := found{root: root}
	var s kernel = &search{number: k, root: root}
	if number == 3 {
		s = &shortest{number: k, root: root}
	}
	for {
		began := time.Now()
		work := s.run(ctx, g)
		f.took += time.Since(began)
		if work == nil {
			began = time.Now()
			work = g.validated(ctx, root, number, &f)
			f.valid += time.Since(began)
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

func (g *graph) validated(ctx context.Context, root uint64, number int, f *found) error {
	if number == 3 {
		return g.validateDistances(ctx, root, f)
	}
	return g.validate(ctx, root, f)
}
