package main

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// A verb is a collective with its algorithms: those that are taken unless others are
// clearly faster come first.
type verb struct {
	name       string
	algorithms []string
	empty      bool // it has no message
	byRanks    bool // the choice must not depend on bytes
	make       func(w *comm.Comm, bytes int) func(ctx context.Context) error
}

var sum = collectives.Sum[byte]

var verbs = []verb{
	{"barrier", []string{inMemory, "dissemination"}, true, false, func(w *comm.Comm, _ int) func(context.Context) error {
		return func(ctx context.Context) error { return collectives.Barrier(ctx, w) }
	}},
	{"bcast", []string{inMemory, "binomial", "knomial", "bine", "chain:8192", "scatter-allgather"}, false, false, func(w *comm.Comm, bytes int) func(context.Context) error {
		buf := make([]byte, bytes)
		return func(ctx context.Context) error { return collectives.Bcast(ctx, w, 0, buf) }
	}},
	{"reduce", []string{inMemory, "in-order", "binomial", "bine", "chain:8192", "rabenseifner"}, false, true, func(w *comm.Comm, bytes int) func(context.Context) error {
		dst, src := make([]byte, bytes), make([]byte, bytes)
		return func(ctx context.Context) error { return collectives.Reduce(ctx, w, 0, dst, src, sum) }
	}},
	{"allreduce", []string{inMemory, "recursive-doubling", "reduce-bcast", "rabenseifner", "ring"}, false, false, func(w *comm.Comm, bytes int) func(context.Context) error {
		dst, src := make([]byte, bytes), make([]byte, bytes)
		return func(ctx context.Context) error { return collectives.Allreduce(ctx, w, dst, src, sum) }
	}},
	{"gather", []string{"linear", "binomial"}, false, true, func(w *comm.Comm, bytes int) func(context.Context) error {
		all, one := make([]byte, bytes*w.Size()), make([]byte, bytes)
		return func(ctx context.Context) error { return collectives.Gather(ctx, w, 0, all, one) }
	}},
	{"scatter", []string{"linear", "binomial"}, false, true, func(w *comm.Comm, bytes int) func(context.Context) error {
		all, one := make([]byte, bytes*w.Size()), make([]byte, bytes)
		return func(ctx context.Context) error { return collectives.Scatter(ctx, w, 0, one, all) }
	}},
	{"allgather", []string{"bruck", "recursive-doubling", "ring", "neighbor-exchange"}, false, false, func(w *comm.Comm, bytes int) func(context.Context) error {
		all, one := make([]byte, bytes*w.Size()), make([]byte, bytes)
		return func(ctx context.Context) error { return collectives.Allgather(ctx, w, all, one) }
	}},
	{"alltoall", []string{"linear", "bruck", "pairwise"}, false, false, func(w *comm.Comm, bytes int) func(context.Context) error {
		dst, src := make([]byte, bytes*w.Size()), make([]byte, bytes*w.Size())
		return func(ctx context.Context) error { return collectives.Alltoall(ctx, w, dst, src) }
	}},
	{"reduce-scatter", []string{"recursive-halving", "pairwise", "ring", "linear"}, false, false, func(w *comm.Comm, bytes int) func(context.Context) error {
		one, all := make([]byte, bytes), make([]byte, bytes*w.Size())
		return func(ctx context.Context) error { return collectives.ReduceScatterBlock(ctx, w, one, all, sum) }
	}},
	{"scan", []string{"recursive-doubling", "linear"}, false, false, func(w *comm.Comm, bytes int) func(context.Context) error {
		dst, src := make([]byte, bytes), make([]byte, bytes)
		return func(ctx context.Context) error { return collectives.Scan(ctx, w, dst, src, sum) }
	}},
	{"exscan", []string{"recursive-doubling", "linear"}, false, false, func(w *comm.Comm, bytes int) func(context.Context) error {
		dst, src := make([]byte, bytes), make([]byte, bytes)
		return func(ctx context.Context) error { return collectives.Exscan(ctx, w, dst, src, sum) }
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
