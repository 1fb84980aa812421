package collectives_test

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// A verb is a collective as tests of failures call it: with length elements per
// rank, and rank 0 as the root where there is one. Anything else is its failure.
type verb struct {
	name string
	// synchronizes: nobody can succeed unless everybody has entered.
	synchronizes bool
	call         func(ctx context.Context, w *comm.Comm, length int) error
}

var verbs = []verb{
	{"barrier", true, func(ctx context.Context, w *comm.Comm, _ int) error { return collectives.Barrier(ctx, w) }},
	{"bcast", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Bcast(ctx, w, 0, make([]int, length))
	}},
	{"bcast_value", false, func(ctx context.Context, w *comm.Comm, length int) error {
		v := make([]int, length)
		return collectives.BcastValue(ctx, w, 0, &v)
	}},
	{"reduce", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Reduce(ctx, w, 0, make([]int, length), make([]int, length), collectives.Sum)
	}},
	{"allreduce", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Allreduce(ctx, w, make([]int, length), make([]int, length), collectives.Sum)
	}},
	{"gather", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Gather(ctx, w, 0, make([]int, length*w.Size()), make([]int, length))
	}},
	{"gather_value", false, func(ctx context.Context, w *comm.Comm, length int) error {
		_, err := collectives.GatherValue(ctx, w, 0, make([]int, length))
		return err
	}},
	{"scatter", false, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Scatter(ctx, w, 0, make([]int, length), make([]int, length*w.Size()))
	}},
	{"allgather", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Allgather(ctx, w, make([]int, length*w.Size()), make([]int, length))
	}},
	{"alltoall", true, func(ctx context.Context, w *comm.Comm, length int) error {
		return collectives.Alltoall(ctx, w, make([]int, length*w.Size()), make([]int, length*w.Size()))
	}},
}

// Lengths of messages in tests of failures: pushed at once, and waiting for the
// receiver in several parts.
const (
	short = 3
	big   = 5000
)
