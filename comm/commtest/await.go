package commtest

import (
	"context"
	"runtime"

	"github.com/goulfm/goulfm/comm"
)

// AwaitFailure returns nil once this rank knows that n members of c have failed, or more. The
// peers of a killed rank hear of its death at different times: a test that asks what comes
// after a failure waits for the failure first. Errors: that of ctx, and comm.ErrFenced in a
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
