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
func Alltoall[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if elem := elemOf[T](); elem != 0 && c != nil && len(dst) == len(src) && len(src)%c.Size() == 0 && shared(ctx, c, alltoall, sched.Alltoall, noRoot, len(from)/c.Size()) {
		if len(from) > nodecoll.WholeBytes {
			from = apart(to, from, false) // the others read from while this member receives
		}
		if done, err := inMemory(ctx, c, header{kind: alltoall}, elem, len(from),
			func(g *nodecoll.Group, what uint64) { g.Alltoall(what, to, from) }); done {
			return err
		}
	}
	return newAlltoall(ctx, c, dst, src).run()
}

// Ialltoall starts an Alltoall; dst and src belong to the request until that is over.
// MPI 6.12.6.
func Ialltoall[T comm.Elem](c *comm.Comm, dst, src []T, opts ...Options) comm.Request {
	return newAlltoall(twinOf(opts), c, dst, src).start()
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

// Alltoallv is Alltoall of parts of any lengths: the scounts[i] elements of src from sdispls[i] on
// are sent to rank i, and the rcounts[i] elements from rank i are stored in dst[rdispls[i]:];
// without displacements the parts follow each other. The count that one member sends must be the
// count that the other receives. Counts, and displacements unless nil, have Size() entries: else
// ErrLength; a part that is not inside of its slice is ErrBuffer. Parts of dst must not overlap;
// dst and src may be the same slice. Errors: ErrLength, ErrBuffer, ErrMismatch where a message of
// another length arrives, and those of all collectives. MPI 6.8.
func Alltoallv[T comm.Elem](ctx context.Context, c *comm.Comm, dst []T, rcounts, rdispls []int, src []T, scounts, sdispls []int) error {
	return newAlltoallv(ctx, c, dst, rcounts, rdispls, src, scounts, sdispls).run()
}

// Ialltoallv starts an Alltoallv; dst and src belong to the request until that is over,
// counts and displacements do not. MPI 6.12.6.
func Ialltoallv[T comm.Elem](c *comm.Comm, dst []T, rcounts, rdispls []int, src []T, scounts, sdispls []int, opts ...Options) comm.Request {
	return newAlltoallv(twinOf(opts), c, dst, rcounts, rdispls, src, scounts, sdispls).start()
}

func newAlltoallv[T comm.Elem](ctx context.Context, c *comm.Comm, dst []T, rcounts, rdispls []int, src []T, scounts, sdispls []int) *call {
	x := prepare[T](ctx, c, alltoallv, noRoot)
	if x.err == nil {
		x.shape.Out = x.wantBlocks("dst", len(dst), rcounts, rdispls, &x.displs[0])
	}
	if x.err == nil {
		x.shape.In = x.wantBlocks("src", len(src), scounts, sdispls, &x.displs[1])
	}
	if x.err == nil && rcounts[x.me] != scounts[x.me] {
		x.wrong("%w: this rank sends %d elements to itself and receives %d", comm.ErrLength, scounts[x.me], rcounts[x.me])
	}
	x.do(task{verb: sched.Alltoall, dst: byteview.Bytes(dst), src: byteview.Bytes(src), layout: sched.Scattered})
	return x
}
