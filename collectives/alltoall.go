package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Alltoall cuts src into Size() equal parts and copies the i-th into rank i's
// dst, at the place of this rank. dst and src have one length, a multiple of
// Size(): else ErrLength here, or ErrMismatch where a message of another length
// arrives. dst and src may be the same slice. Errors: ErrLength, ErrMismatch,
// and those of all collectives. MPI 6.8.
func Alltoall[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, opts ...Option) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if elem := elemOf[T](); elem != 0 && c != nil && len(dst) == len(src) && len(src)%c.Size() == 0 && shared(c, alltoall, sched.Alltoall, noRoot, len(from)/c.Size(), opts) {
		if len(from) > nodecoll.WholeBytes {
			from = apart(to, from, false) // the others read from while this member receives
		}
		if done, err := inMemory(ctx, c, header{kind: alltoall}, elem, len(from),
			func(g *nodecoll.Group, what uint64) { g.Alltoall(what, to, from) }); done {
			return err
		}
	}
	return newAlltoall(ctx, c, dst, src).with(opts).run()
}

// Ialltoall starts an Alltoall; dst and src belong to the request until that is over.
// MPI 6.12.6.
func Ialltoall[T comm.Elem](c *comm.Comm, dst, src []T, opts ...Option) comm.Request {
	return newAlltoall(unbound, c, dst, src).with(opts).start()
}

func newAlltoall[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T) *call {
	x := prepare[T](ctx, c, alltoall, noRoot)
	x.wantLength("dst", len(dst), len(src))
	x.wantParts(len(src))
	b := byteview.Bytes(src)
	x.do(task{verb: sched.Alltoall, dst: byteview.Bytes(dst), src: b, length: len(b) / x.n, sized: true, note: len(b)})
	return x
}

// wantParts notes ErrLength unless src can be cut into equal parts.
func (x *call) wantParts(elems int) {
	if elems%x.n != 0 {
		x.wrong("%w: src has %d elements, want a multiple of %d", comm.ErrLength, elems, x.n)
	}
}

// Alltoallv is Alltoall of parts of any lengths: this member sends the i-th of the srcBlocks of src
// to rank i, and stores the part from rank i in the i-th of the dstBlocks of dst. Both have one
// entry for each of the Size() ranks. The count that one member sends must be the count that the
// other receives. dst and src may be the same slice. Errors: ErrLength, ErrBuffer, ErrMismatch
// where a message of another length arrives, and those of all collectives. MPI 6.8.
func Alltoallv[T comm.Elem](ctx context.Context, c *comm.Comm, dst []T, dstBlocks Blocks, src []T, srcBlocks Blocks, opts ...Option) error {
	return newAlltoallv(ctx, c, dst, dstBlocks, src, srcBlocks).with(opts).run()
}

// Ialltoallv starts an Alltoallv; dst and src belong to the request until that is over,
// the slices of the blocks do not. MPI 6.12.6.
func Ialltoallv[T comm.Elem](c *comm.Comm, dst []T, dstBlocks Blocks, src []T, srcBlocks Blocks, opts ...Option) comm.Request {
	return newAlltoallv(unbound, c, dst, dstBlocks, src, srcBlocks).with(opts).start()
}

func newAlltoallv[T comm.Elem](ctx context.Context, c *comm.Comm, dst []T, dstBlocks Blocks, src []T, srcBlocks Blocks) *call {
	x := prepare[T](ctx, c, alltoallv, noRoot)
	if x.err == nil {
		x.shape.Out = x.wantBlocks("dst", len(dst), dstBlocks, &x.displs[0])
	}
	if x.err == nil {
		x.shape.In = x.wantBlocks("src", len(src), srcBlocks, &x.displs[1])
	}
	if x.err == nil && dstBlocks.Counts[x.me] != srcBlocks.Counts[x.me] {
		x.wrong("%w: this rank sends %d elements to itself and receives %d", comm.ErrLength, srcBlocks.Counts[x.me], dstBlocks.Counts[x.me])
	}
	x.do(task{verb: sched.Alltoall, dst: byteview.Bytes(dst), src: byteview.Bytes(src), layout: sched.Scattered})
	return x
}
