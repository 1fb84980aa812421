package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Barrier returns when every member has called Barrier. Errors: of all collectives. MPI 6.3.
func Barrier(ctx context.Context, c *comm.Comm, opts ...Option) error {
	if shared(c, barrier, sched.Barrier, noRoot, 0, opts) {
		if done, err := inMemory(ctx, c, header{kind: barrier}, 0, 0, (*nodecoll.Group).Barrier); done {
			return err
		}
	}
	return newBarrier(ctx, c).with(opts).run()
}

// Ibarrier starts a barrier: its request is over once every member has started the barrier. MPI
// 6.12.1.
func Ibarrier(c *comm.Comm, opts ...Option) comm.Request {
	return newBarrier(unbound, c).with(opts).start()
}

func newBarrier(ctx context.Context, c *comm.Comm) *call {
	x := prepare[byte](ctx, c, barrier, noRoot)
	x.Elem = 0
	x.do(task{verb: sched.Barrier, sized: true})
	return x
}
