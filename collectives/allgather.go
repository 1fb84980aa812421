package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Allgather copies src of every member, in rank order, into dst of every member.
// All src have the same length, and dst has Size() times this length: else
// ErrLength there, or ErrMismatch where a message of another length arrives. src
// may be this member's place in dst. Errors: ErrLength, ErrMismatch, and those of all
// collectives. MPI 6.7.
func Allgather[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, opts ...Option) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if elem := elemOf[T](); elem != 0 && shared(c, allgather, sched.Allgather, noRoot, len(from), opts) && len(to) == len(from)*c.Size() {
		from = apart(to, from, begins(to, from, c.Rank()*len(from)))
		if done, err := inMemory(ctx, c, header{kind: allgather}, elem, len(from),
			func(g *nodecoll.Group, what uint64) { g.Allgather(what, to, from) }); done {
			return err
		}
	}
	return newAllgather(ctx, c, dst, src).with(opts).run()
}

// Iallgather starts an Allgather; dst and src belong to the request until that is
// over. MPI 6.12.5.
func Iallgather[T comm.Elem](c *comm.Comm, dst, src []T, opts ...Option) comm.Request {
	return newAllgather(unbound, c, dst, src).with(opts).start()
}

func newAllgather[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T) *call {
	x := prepare[T](ctx, c, allgather, noRoot)
	x.wantLength("dst", len(dst), len(src)*x.n)
	b := byteview.Bytes(src)
	x.do(task{verb: sched.Allgather, dst: byteview.Bytes(dst), src: b, length: len(b), sized: true, note: len(b)})
	return x
}

// Allgatherv is Allgather of parts of any lengths: every member stores src of rank i in the i-th of
// the blocks of dst. Blocks has one entry for each of the Size() ranks. Counts are the same at all
// members, Displs need not be. The count of this member is the length of its src: else ErrLength.
// Errors: ErrLength, ErrBuffer, ErrMismatch where a message of another length arrives, and those of
// all collectives. MPI 6.7.
func Allgatherv[T comm.Elem](ctx context.Context, c *comm.Comm, dst []T, blocks Blocks, src []T, opts ...Option) error {
	return newAllgatherv(ctx, c, dst, blocks, src).with(opts).run()
}

// Iallgatherv starts an Allgatherv; dst and src belong to the request until that is
// over, the slices of blocks do not. MPI 6.12.5.
func Iallgatherv[T comm.Elem](c *comm.Comm, dst []T, blocks Blocks, src []T, opts ...Option) comm.Request {
	return newAllgatherv(unbound, c, dst, blocks, src).with(opts).start()
}

func newAllgatherv[T comm.Elem](ctx context.Context, c *comm.Comm, dst []T, blocks Blocks, src []T) *call {
	x := prepare[T](ctx, c, allgatherv, noRoot)
	if x.err == nil {
		x.shape.Out = x.wantBlocks("dst", len(dst), blocks, &x.displs[0])
		x.wantOwn(x.shape.Out, "src", len(src))
	}
	b := byteview.Bytes(src)
	x.do(task{verb: sched.Allgather, dst: byteview.Bytes(dst), src: b, length: len(b), layout: sched.Scattered})
	return x
}
