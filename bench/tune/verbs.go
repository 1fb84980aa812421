package main

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// A call makes a collective with an algorithm.
type call func(ctx context.Context, algorithm collectives.Option) error

// A verb is a collective with its algorithms. An algorithm comes before the ones that must be
// clearly faster to be chosen.
type verb struct {
	name       string
	algorithms []string
	empty      bool // no message
	byRanks    bool // the choice must not depend on bytes
	make       func(w *comm.Comm, bytes int) call
}

var sum = collectives.Sum[byte]

var verbs = []verb{
	{"barrier", []string{inMemory, "dissemination"}, true, false, func(w *comm.Comm, _ int) call {
		return func(ctx context.Context, o collectives.Option) error { return collectives.Barrier(ctx, w, o) }
	}},
	{"bcast", []string{inMemory, "binomial", "knomial", "bine", "chain:8192", "scatter-allgather"}, false, false, func(w *comm.Comm, bytes int) call {
		buf := make([]byte, bytes)
		return func(ctx context.Context, o collectives.Option) error { return collectives.Bcast(ctx, w, 0, buf, o) }
	}},
	{"reduce", []string{inMemory, "in-order", "binomial", "bine", "chain:8192", "rabenseifner"}, false, true, func(w *comm.Comm, bytes int) call {
		dst, src := make([]byte, bytes), make([]byte, bytes)
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.Reduce(ctx, w, 0, dst, src, sum, o)
		}
	}},
	{"allreduce", []string{inMemory, "recursive-doubling", "reduce-bcast", "rabenseifner", "ring"}, false, false, func(w *comm.Comm, bytes int) call {
		dst, src := make([]byte, bytes), make([]byte, bytes)
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.Allreduce(ctx, w, dst, src, sum, o)
		}
	}},
	{"gather", []string{"linear", "binomial"}, false, true, func(w *comm.Comm, bytes int) call {
		all, one := make([]byte, bytes*w.Size()), make([]byte, bytes)
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.Gather(ctx, w, 0, all, one, o)
		}
	}},
	{"scatter", []string{"linear", "binomial"}, false, true, func(w *comm.Comm, bytes int) call {
		all, one := make([]byte, bytes*w.Size()), make([]byte, bytes)
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.Scatter(ctx, w, 0, one, all, o)
		}
	}},
	{"allgather", []string{"bruck", "recursive-doubling", "ring", "neighbor-exchange"}, false, false, func(w *comm.Comm, bytes int) call {
		all, one := make([]byte, bytes*w.Size()), make([]byte, bytes)
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.Allgather(ctx, w, all, one, o)
		}
	}},
	{"alltoall", []string{"linear", "bruck", "pairwise"}, false, false, func(w *comm.Comm, bytes int) call {
		dst, src := make([]byte, bytes*w.Size()), make([]byte, bytes*w.Size())
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.Alltoall(ctx, w, dst, src, o)
		}
	}},
	{"reduce-scatter", []string{"recursive-halving", "pairwise", "ring", "linear"}, false, false, func(w *comm.Comm, bytes int) call {
		one, all := make([]byte, bytes), make([]byte, bytes*w.Size())
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.ReduceScatterBlock(ctx, w, one, all, sum, o)
		}
	}},
	{"scan", []string{"recursive-doubling", "linear"}, false, false, func(w *comm.Comm, bytes int) call {
		dst, src := make([]byte, bytes), make([]byte, bytes)
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.Scan(ctx, w, dst, src, sum, o)
		}
	}},
	{"exscan", []string{"recursive-doubling", "linear"}, false, false, func(w *comm.Comm, bytes int) call {
		dst, src := make([]byte, bytes), make([]byte, bytes)
		return func(ctx context.Context, o collectives.Option) error {
			return collectives.Exscan(ctx, w, dst, src, sum, o)
		}
	}},
}

func names() (all []string) {
	for _, v := range verbs {
		all = append(all, v.name)
	}
	return all
}

func (v verb) sizes(sizes []int) []int {
	if v.empty {
		return []int{0}
	}
	return sizes
}
