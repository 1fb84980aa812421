package comm_test

import (
	"context"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/stretchr/testify/assert"
)

// TestNilContextAndNilCommunicator: each call that waits names the missing argument, instead of a
// panic, and the world still works.
func TestNilContextAndNilCommunicator(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		group, buf := w.Group(), []int{0}
		calls := map[string]func(ctx context.Context, c *comm.Comm) error{
			"Send":         func(ctx context.Context, c *comm.Comm) error { return comm.Send(ctx, c.To(0), buf) },
			"Send to None": func(ctx context.Context, c *comm.Comm) error { return comm.Send(ctx, c.To(comm.None), buf) },
			"Ssend":        func(ctx context.Context, c *comm.Comm) error { return comm.Ssend(ctx, c.To(0), buf) },
			"SendValue":    func(ctx context.Context, c *comm.Comm) error { return comm.SendValue(ctx, c.To(0), 1) },
			"Recv":         func(ctx context.Context, c *comm.Comm) error { _, err := comm.Recv(ctx, c.From(0), buf); return err },
			"RecvValue": func(ctx context.Context, c *comm.Comm) error {
				_, _, err := comm.RecvValue[int](ctx, c.From(0))
				return err
			},
			"Probe":  func(ctx context.Context, c *comm.Comm) error { _, err := comm.Probe(ctx, c.From(0)); return err },
			"Mprobe": func(ctx context.Context, c *comm.Comm) error { _, _, err := comm.Mprobe(ctx, c.From(0)); return err },
			"SendRecv": func(ctx context.Context, c *comm.Comm) error {
				_, err := comm.SendRecv(ctx, c.To(0), buf, c.From(0), []int{0})
				return err
			},
			"SendRecvReplace": func(ctx context.Context, c *comm.Comm) error {
				_, err := comm.SendRecvReplace(ctx, c.To(0), c.From(0), buf)
				return err
			},
			"Dup":         func(ctx context.Context, c *comm.Comm) error { _, err := c.Dup(ctx); return err },
			"Split":       func(ctx context.Context, c *comm.Comm) error { _, err := c.Split(ctx, 0, 0); return err },
			"SplitNode":   func(ctx context.Context, c *comm.Comm) error { _, err := c.SplitNode(ctx); return err },
			"Create":      func(ctx context.Context, c *comm.Comm) error { _, err := c.Create(ctx, group); return err },
			"CreateGroup": func(ctx context.Context, c *comm.Comm) error { _, err := c.CreateGroup(ctx, group, 0); return err },
			"Cart": func(ctx context.Context, c *comm.Comm) error {
				_, err := c.Cart(ctx, []int{1}, []bool{false}, false)
				return err
			},
			"Graph":       func(ctx context.Context, c *comm.Comm) error { _, err := c.Graph(ctx, [][]int{{}}); return err },
			"DistGraph":   func(ctx context.Context, c *comm.Comm) error { _, err := c.DistGraph(ctx, nil, nil); return err },
			"Agree":       func(ctx context.Context, c *comm.Comm) error { _, err := c.Agree(ctx, 0); return err },
			"AgreeFailed": func(ctx context.Context, c *comm.Comm) error { _, err := c.AgreeFailed(ctx); return err },
			"AllOK":       func(ctx context.Context, c *comm.Comm) error { _, err := c.AllOK(ctx, nil); return err },
			"Shrink":      func(ctx context.Context, c *comm.Comm) error { _, err := c.Shrink(ctx); return err },
			"Spawn": func(ctx context.Context, c *comm.Comm) error {
				_, err := c.Spawn(ctx, comm.SpawnSpec{N: 1})
				return err
			},
			"Finalize":   func(ctx context.Context, c *comm.Comm) error { return c.Finalize(ctx) },
			"Disconnect": func(ctx context.Context, c *comm.Comm) error { return c.Disconnect(ctx) },
			"Intercomm.Disconnect": func(ctx context.Context, c *comm.Comm) error {
				return (*comm.Intercomm)(nil).Disconnect(ctx)
			},
			"Intercomm.Merge": func(ctx context.Context, c *comm.Comm) error {
				_, err := (*comm.Intercomm)(nil).Merge(ctx, true)
				return err
			},
			"Intercomm.Agree": func(ctx context.Context, c *comm.Comm) error {
				_, err := (*comm.Intercomm)(nil).Agree(ctx, 0)
				return err
			},
			"Intercomm.Shrink": func(ctx context.Context, c *comm.Comm) error {
				_, err := (*comm.Intercomm)(nil).Shrink(ctx)
				return err
			},
		}
		for name, call := range calls {
			for _, c := range []*comm.Comm{w, nil} {
				if len(name) < 10 || name[:9] != "Intercomm" {
					err := call(nil, c)
					assert.ErrorIs(t, err, comm.ErrArgument, "%s, no context", name)
				}
			}
			err := call(ctx, nil)
			assert.ErrorIs(t, err, comm.ErrArgument, "%s, no communicator", name)
			assert.ErrorContains(t, err, "nil communicator", name)
		}
		var none context.Context
		r := comm.Irecv(w.From(0), buf)
		_, err := r.Wait(none)
		assert.ErrorIs(t, err, comm.ErrArgument)
		assert.ErrorIs(t, comm.WaitAll(none, r), comm.ErrArgument)
		_, _, err = comm.WaitAny(none, r)
		assert.ErrorIs(t, err, comm.ErrArgument)
		_, err = comm.WaitSome(none, nil, r)
		assert.ErrorIs(t, err, comm.ErrArgument)
		_, err = comm.Init(none)
		assert.ErrorIs(t, err, comm.ErrArgument)
		assert.NoError(t, comm.Send(ctx, w.To(0), []int{7}))
		_, err = r.Wait(ctx)
		assert.NoError(t, err)
	})
}
