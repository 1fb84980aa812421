package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Scatter cuts src of the root into Size() equal parts and copies the i-th into
// dst of rank i. src at the root has len(dst) times Size() elements: else
// ErrLength there, or ErrMismatch where a message of another length arrives.
// Elsewhere src is not used and may be nil. The root's dst may be its place in
// src. Errors: ErrRoot, ErrLength, ErrMismatch, and those of all collectives.
// MPI 6.6.
func Scatter[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if elem := elemOf[T](); elem != 0 && shared(ctx, c, scatter, sched.Scatter, root, len(to)) && (c.Rank() != root || len(from) == len(to)*c.Size()) {
		from = apart(to, from, begins(from, to, c.Rank()*len(to)))
		if done, err := inMemory(ctx, c, rooted(scatter, root), elem, len(to),
			func(g *nodecoll.Group, what uint64) { g.Scatter(what, root, to, from) }); done {
			return err
		}
	}
	return newScatter(ctx, c, root, dst, src).run()
}

// Iscatter starts a Scatter; dst and src belong to the request until that is over.
// MPI 6.12.4.
func Iscatter[T comm.Elem](c *comm.Comm, root int, dst, src []T, opts ...Options) comm.Request {
	return newScatter(twinOf(opts), c, root, dst, src).start()
}

func newScatter[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T) *call {
	x := prepare[T](ctx, c, scatter, root)
	if x.me == root {
		x.wantLength("src", len(src), len(dst)*x.n)
	} else {
		src = nil
	}
	b := byteview.Bytes(dst)
	x.do(task{verb: sched.Scatter, dst: b, src: byteview.Bytes(src), length: len(b), sized: true, note: len(b)})
	return x
}

// Scatterv is Scatter of parts of any lengths: rank i gets the counts[i] elements of
// the root's src from displs[i] on; without displs the parts lie one behind the other.
// At the root counts, and displs unless nil, have Size() entries, and the root's own is
// the length of its dst: else ErrLength; a part that is not inside of src is ErrBuffer.
// Elsewhere src, counts and displs are not used. Errors: ErrRoot, ErrLength, ErrBuffer,
// ErrMismatch where a message of another length arrives, and those of all collectives.
// MPI 6.6.
func Scatterv[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T, counts, displs []int) error {
	return newScatterv(ctx, c, root, dst, src, counts, displs).run()
}

// Iscatterv starts a Scatterv; dst and src belong to the request until that is over,
// counts and displs do not. MPI 6.12.4.
func Iscatterv[T comm.Elem](c *comm.Comm, root int, dst, src []T, counts, displs []int, opts ...Options) comm.Request {
	return newScatterv(twinOf(opts), c, root, dst, src, counts, displs).start()
}

func newScatterv[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T, counts, displs []int) *call {
	x := prepare[T](ctx, c, scatterv, root)
	if x.me != root {
		src = nil
	} else if x.err == nil {
		x.shape.In = x.wantBlocks("src", len(src), counts, displs, &x.displs[0])
		x.wantOwn(x.shape.In, "dst", len(dst))
	}
	b := byteview.Bytes(dst)
	x.do(task{verb: sched.Scatter, dst: b, src: byteview.Bytes(src), length: len(b), layout: sched.Scattered})
	return x
}
