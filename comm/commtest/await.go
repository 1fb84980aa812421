package commtest

import (
	"context"
	"runtime"

	"github.com/goulfm/goulfm/comm"
)

// AwaitFailure waits until this rank knows of the failure of at least n members of c, and returns
// nil then. A test that checks the behavior after a failure calls it first, because the peers of a
// killed rank learn of the death at different times. Errors: that of ctx, and comm.ErrFenced in a
// rank that was killed itself.
func AwaitFailure(ctx context.Context, c *comm.Comm, n int) error {
	for c.GetFailed().Size() < n {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case door.Engine(c).Proc().Fenced():
			return comm.ErrFenced
		}
		runtime.Gosched()
	}
	return nil
}
