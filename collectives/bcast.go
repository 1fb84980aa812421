package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Bcast copies buf of the root into buf of every member. The lengths must be
// equal: ErrMismatch where a message of another length arrives. Errors: ErrRoot,
// and those of all collectives. MPI 6.4.
func Bcast[T comm.Elem](ctx context.Context, c *comm.Comm, root int, buf []T, opts ...Option) error {
	b := byteview.Bytes(buf)
	if elem := elemOf[T](); elem != 0 && shared(c, bcast, sched.Bcast, root, len(b), opts) {
		if done, err := inMemory(ctx, c, rooted(bcast, root), elem, len(b),
			func(g *nodecoll.Group, what uint64) { g.Bcast(what, root, b) }); done {
			return err
		}
	}
	return newBcast[T](ctx, c, bcast, root, b).with(opts).run()
}

// Ibcast starts a Bcast; buf belongs to the request until that is over. MPI 6.12.2.
func Ibcast[T comm.Elem](c *comm.Comm, root int, buf []T, opts ...Option) comm.Request {
	return newBcast[T](unbound, c, bcast, root, byteview.Bytes(buf)).with(opts).start()
}

func newBcast[T any](ctx context.Context, c *comm.Comm, k kind, root int, buf []byte) *call {
	x := prepare[T](ctx, c, k, root)
	x.do(task{verb: sched.Bcast, dst: buf, length: len(buf), sized: true, note: len(buf)})
	return x
}
