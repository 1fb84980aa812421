package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Reduce combines src of all members, element by element, into dst of the root. An
// operation that does not commute combines in the order of the ranks; for any other
// the order is described at Allreduce, and between nodes depends on the root, too.
// All src have one length, and so has dst at the root: else ErrLength there;
// elsewhere dst is not used and may be nil. dst and src may be the same slice.
// Errors: ErrRoot, ErrLength, ErrMismatch, and those of all collectives. MPI 6.9.1.
func Reduce[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T, op Op[T], opts ...Option) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if red, _, elem, ok := reduction(op); ok && shared(c, reduce, sched.ReduceTo, root, len(from), opts) && (c.Rank() != root || len(dst) == len(src)) {
		if done, err := inMemory(ctx, c, rooted(reduce, root), elem, len(from),
			func(g *nodecoll.Group, what uint64) { g.Reduce(what, root, to, from, red) }); done {
			return err
		}
	}
	return newReduce(ctx, c, root, dst, src, op).with(opts).run()
}

// Ireduce starts a Reduce; dst and src belong to the request until that is over.
// MPI 6.12.7.
func Ireduce[T comm.Elem](c *comm.Comm, root int, dst, src []T, op Op[T], opts ...Option) comm.Request {
	return newReduce(unbound, c, root, dst, src, op).with(opts).start()
}

func newReduce[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T, op Op[T]) *call {
	x := prepare[T](ctx, c, reduce, root)
	if x.me == root {
		x.wantLength("dst", len(dst), len(src))
	} else {
		dst = nil
	}
	setOp(x, op)
	x.vector(sched.ReduceTo, byteview.Bytes(dst), byteview.Bytes(src))
	return x
}

// vector asks for a reduction of vectors.
func (x *call) vector(verb sched.Verb, dst, src []byte) {
	x.do(task{verb: verb, dst: dst, src: src, length: len(src), sized: true, note: len(src)})
}
