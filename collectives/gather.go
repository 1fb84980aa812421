package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Gather copies src of every member, in rank order, into dst of the root. All
// src have one length, and dst at the root has that times Size(): else ErrLength
// there, or ErrMismatch where a message of another length arrives. Elsewhere dst
// is not used and may be nil. The root's src may be its place in dst. Errors:
// ErrRoot, ErrLength, ErrMismatch, and those of all collectives. MPI 6.5.
func Gather[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if elem := elemOf[T](); elem != 0 && shared(ctx, c, gather, sched.Gather, root, len(from)) && (c.Rank() != root || len(to) == len(from)*c.Size()) {
		if done, err := inMemory(ctx, c, rooted(gather, root), elem, len(from),
			func(g *nodecoll.Group, what uint64) { g.Gather(what, root, to, from) }); done {
			return err
		}
	}
	return newGather(ctx, c, root, dst, src).run()
}

// Igather starts a Gather; dst and src belong to the request until that is over. MPI
// 6.12.3.
func Igather[T comm.Elem](c *comm.Comm, root int, dst, src []T, opts ...Options) comm.Request {
	return newGather(twinOf(opts), c, root, dst, src).start()
}

func newGather[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T) *call {
	x := prepare[T](ctx, c, gather, root)
	if x.me == root {
		x.wantLength("dst", len(dst), len(src)*x.n)
	} else {
		dst = nil
	}
	b := byteview.Bytes(src)
	x.do(task{verb: sched.Gather, dst: byteview.Bytes(dst), src: b, length: len(b), sized: true, note: len(b)})
	return x
}

// Gatherv is Gather of parts of any lengths: the counts[i] elements of rank i are stored in
// dst[displs[i]:] of the root; without displs the parts follow each other. At the root counts, and
// displs unless nil, have Size() entries, and the root's own count is the length of its src: else
// ErrLength; a part that is not inside of dst is ErrBuffer. Elsewhere dst, counts and displs are
// not used. Parts must not overlap. Errors: ErrRoot, ErrLength, ErrBuffer, ErrMismatch where a
// message of another length arrives, and those of all collectives. MPI 6.5.
func Gatherv[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst []T, counts, displs []int, src []T) error {
	return newGatherv(ctx, c, root, dst, counts, displs, src).run()
}

// Igatherv starts a Gatherv; dst and src belong to the request until that is over,
// counts and displs do not. MPI 6.12.3.
func Igatherv[T comm.Elem](c *comm.Comm, root int, dst []T, counts, displs []int, src []T, opts ...Options) comm.Request {
	return newGatherv(twinOf(opts), c, root, dst, counts, displs, src).start()
}

func newGatherv[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst []T, counts, displs []int, src []T) *call {
	x := prepare[T](ctx, c, gatherv, root)
	if x.me != root {
		dst = nil
	} else if x.err == nil {
		x.shape.Out = x.wantBlocks("dst", len(dst), counts, displs, &x.displs[0])
		x.wantOwn(x.shape.Out, "src", len(src))
	}
	b := byteview.Bytes(src)
	x.do(task{verb: sched.Gather, dst: byteview.Bytes(dst), src: b, length: len(b), layout: sched.Scattered})
	return x
}

// wantOwn stores ErrLength unless this rank's block has the length of the slice that the block is
// copied from or to.
func (x *call) wantOwn(b sched.Blocks, what string, elems int) {
	if x.err == nil && b.Counts[x.me] != elems {
		x.wrong("%w: %s has %d elements, and counts[%d] is %d", comm.ErrLength, what, elems, x.me, b.Counts[x.me])
	}
}
