package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/nodecoll"
	"github.com/goulfm/goulfm/internal/view"
)

// Allreduce combines src of all members, element by element and in the order of
// the ranks, into dst of every member. The result is the same at all members bit
// for bit, and depends on nothing but the inputs. dst and src have one length,
// else ErrLength, and may be the same slice. Errors: ErrLength, ErrMismatch, and
// those of all collectives. MPI 6.9.6.
func Allreduce[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, op Op[T]) error {
	if red, code, ok := reduction(op); ok && shared(c, allreduce, noRoot) && len(dst) == len(src) {
		to, from := view.Bytes(dst), view.Bytes(src)
		return inMemory(ctx, c, header{kind: allreduce, what: code}, elemOf[T](), len(from),
			func(g *nodecoll.Group, what uint64) { g.Allreduce(what, to, from, red) })
	}
	x, err := begin(ctx, c, allreduce, noRoot, elemOf[T]())
	if err != nil {
		return err
	}
	if err := wantLength("dst", len(dst), len(src)); err != nil {
		return x.end(err)
	}
	k, err := kernelOf(op)
	if err != nil {
		return x.end(err)
	}
	x.head.what = int(k.code)
	if err := x.byMessages(len(view.Bytes(src))); err != nil {
		return x.end(err)
	}
	return x.end(allreduceTo(x, dst, src, k))
}

// allreduceTo goes up the tree and down again. As with the barrier the number of
// messages decides, and one way for all lengths means that members with
// different lengths meet and notice.
func allreduceTo[T comm.Elem](x *call, dst, src []T, k Kernel[T]) error {
	if len(src) == 0 {
		dst = nil
	}
	if _, err := reduceToFirst(x, dst, src, k); err != nil {
		return err
	}
	return x.bcast(0, view.Bytes(dst))
}
