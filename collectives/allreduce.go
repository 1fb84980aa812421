package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Allreduce combines src of all members, element by element, into dst of every member. The result
// has the same bits at all members. An operation that does not commute combines in the order of the
// ranks. For any other the order depends on the number of members, the length, the algorithm and
// the placement of the members on nodes: a sum of floats may have other last bits after a member
// was replaced on another node. With Reproducible the order depends on the number of members alone.
// dst and src have one length, else ErrLength, and may be the same slice. Errors: ErrLength,
// ErrMismatch, and those of all collectives. MPI 6.9.6.
func Allreduce[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, op Op[T], opts ...Option) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if red, code, elem, ok := reduction(op); ok && len(dst) == len(src) && shared(c, allreduce, sched.Allreduce, noRoot, len(from), opts) {
		if done, err := inMemory(ctx, c, header{kind: allreduce, what: code}, elem, len(from),
			func(g *nodecoll.Group, what uint64) { g.Allreduce(what, to, from, red) }); done {
			return err
		}
	}
	return newAllreduce(ctx, c, dst, src, op).with(opts).run()
}

// Iallreduce starts an Allreduce; dst and src belong to the request until that is
// over. MPI 6.12.8.
func Iallreduce[T comm.Elem](c *comm.Comm, dst, src []T, op Op[T], opts ...Option) comm.Request {
	return newAllreduce(unbound, c, dst, src, op).with(opts).start()
}

func newAllreduce[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, op Op[T]) *call {
	x := prepare[T](ctx, c, allreduce, noRoot)
	x.wantLength("dst", len(dst), len(src))
	setOp(x, op)
	x.vector(sched.Allreduce, byteview.Bytes(dst), byteview.Bytes(src))
	return x
}
