package collectives_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestCollectiveWithARankInFinalize: a collective that waits for a member in Finalize ends
// with ErrFinalized at all members that are in it, and names the member. The communicator is not
// revoked, and all members can still finalize.
func TestCollectiveWithARankInFinalize(t *testing.T) {
	for name, nodes := range map[string]commtest.Nodes{"one node": {0, 0, 0, 0}, "two nodes": {0, 0, 1, 1}, "a node for each rank": {0, 1, 2, 3}} {
		for _, call := range []struct {
			name string
			call func(ctx context.Context, c *comm.Comm) error
		}{
			{"barrier", func(ctx context.Context, c *comm.Comm) error { return collectives.Barrier(ctx, c) }},
			{"allreduce", func(ctx context.Context, c *comm.Comm) error {
				return collectives.Allreduce(ctx, c, make([]int, 1000), make([]int, 1000), collectives.Sum)
			}},
			{"ibarrier", func(ctx context.Context, c *comm.Comm) error {
				_, err := collectives.Ibarrier(c).Wait(ctx)
				return err
			}},
		} {
			t.Run(name+" "+call.name, func(t *testing.T) {
				nodes.Run(t, func(ctx context.Context, w *comm.Comm) {
					assert.NoError(t, call.call(ctx, w), "all members")
					if w.Rank() == 3 {
						return // to Finalize
					}
					err := call.call(ctx, w)
					assert.ErrorIs(t, err, comm.ErrFinalized)
					var e *ulfm.Error
					if assert.ErrorAs(t, err, &e) {
						assert.Equal(t, []int{3}, e.Ranks)
					}
					assert.False(t, w.IsRevoked())
				})
			})
		}
	}
}
