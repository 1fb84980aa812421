package collectives_test

import (
	"context"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/stretchr/testify/assert"
)

// blocking are calls of each kind, with one element for each member.
var blocking = map[string]func(ctx context.Context, c *comm.Comm) error{
	"barrier": func(ctx context.Context, c *comm.Comm) error { return collectives.Barrier(ctx, c) },
	"bcast":   func(ctx context.Context, c *comm.Comm) error { return collectives.Bcast(ctx, c, 0, make([]int, 1)) },
	"reduce": func(ctx context.Context, c *comm.Comm) error {
		return collectives.Reduce(ctx, c, 0, make([]int, 1), make([]int, 1), collectives.Sum)
	},
	"allreduce": func(ctx context.Context, c *comm.Comm) error {
		return collectives.Allreduce(ctx, c, make([]int, 1), make([]int, 1), collectives.Sum)
	},
	"allreduceOne": func(ctx context.Context, c *comm.Comm) error {
		_, err := collectives.AllreduceOne(ctx, c, 1, collectives.Sum)
		return err
	},
	"gather": func(ctx context.Context, c *comm.Comm) error {
		return collectives.Gather(ctx, c, 0, make([]int, 2), make([]int, 1))
	},
	"scatter": func(ctx context.Context, c *comm.Comm) error {
		return collectives.Scatter(ctx, c, 0, make([]int, 1), make([]int, 2))
	},
	"allgather": func(ctx context.Context, c *comm.Comm) error {
		return collectives.Allgather(ctx, c, make([]int, 2), make([]int, 1))
	},
	"alltoall": func(ctx context.Context, c *comm.Comm) error {
		return collectives.Alltoall(ctx, c, make([]int, 2), make([]int, 2))
	},
	"scan": func(ctx context.Context, c *comm.Comm) error {
		return collectives.Scan(ctx, c, make([]int, 1), make([]int, 1), collectives.Sum)
	},
	"block": func(ctx context.Context, c *comm.Comm) error {
		return collectives.ReduceScatterBlock(ctx, c, make([]int, 1), make([]int, 2), collectives.Sum)
	},
	"bcastValue": func(ctx context.Context, c *comm.Comm) error { v := "a"; return collectives.BcastValue(ctx, c, 0, &v) },
	"gatherValue": func(ctx context.Context, c *comm.Comm) error {
		_, err := collectives.GatherValue(ctx, c, 0, "a")
		return err
	},
	"allgatherValue": func(ctx context.Context, c *comm.Comm) error {
		_, err := collectives.AllgatherValue(ctx, c, "a")
		return err
	},
}

// TestNoContext: a nil context or communicator is ErrArgument at every member, and the communicator
// works afterwards.
func TestNoContext(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for name, call := range blocking {
			assert.ErrorIs(t, call(ctx, nil), comm.ErrArgument, "%s, no communicator", name)
		}
		for _, name := range []string{"barrier", "bcast", "reduce", "allreduce", "allreduceOne", "gather", "scatter", "allgather", "alltoall", "scan", "block", "bcastValue", "gatherValue", "allgatherValue"} {
			assert.ErrorIs(t, blocking[name](nil, w), comm.ErrArgument, "%s, no context", name)
			assert.NoError(t, blocking[name](ctx, w), "%s afterwards", name)
		}
	})
}

// TestNoContextAtOne: the member that has no context learns that, and the others learn of a mistake.
func TestNoContextAtOne(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for _, name := range []string{"barrier", "allreduce", "alltoall"} {
			if w.Rank() == 1 {
				assert.ErrorIs(t, blocking[name](nil, w), comm.ErrArgument, "%s", name)
				continue
			}
			assert.ErrorContains(t, blocking[name](ctx, w), "another member's argument was wrong", "%s", name)
		}
	})
}
