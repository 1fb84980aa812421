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
func Scatter[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T, opts ...Option) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if elem := elemOf[T](); elem != 0 && shared(c, scatter, sched.Scatter, root, len(to), opts) && (c.Rank() != root || len(from) == len(to)*c.Size()) {
		from = apart(to, from, begins(from, to, c.Rank()*len(to)))
		if done, err := inMemory(ctx, c, rooted(scatter, root), elem, len(to),
			func(g *nodecoll.Group, what uint64) { g.Scatter(what, root, to, from) }); done {
			return err
		}
	}
	return newScatter(ctx, c, root, dst, src).with(opts).run()
}

// Iscatter starts a Scatter; dst and src belong to the request until that is over.
// MPI 6.12.4.
func Iscatter[T comm.Elem](c *comm.Comm, root int, dst, src []T, opts ...Option) comm.Request {
	return newScatter(unbound, c, root, dst, src).with(opts).start()
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

// Scatterv is Scatter of parts of any lengths: rank i receives the i-th of the blocks of the root's
// src in dst. At the root blocks has one entry for each of the Size() ranks, and the root's own
// count is the length of its dst: else ErrLength. Elsewhere src and blocks are not used, and may be
// nil and empty. Errors: ErrRoot, ErrLength, ErrBuffer, ErrMismatch where a message of another
// length arrives, and those of all collectives. MPI 6.6.
func Scatterv[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T, blocks Blocks, opts ...Option) error {
	return newScatterv(ctx, c, root, dst, src, blocks).with(opts).run()
}

// Iscatterv starts a Scatterv; dst and src belong to the request until that is over,
// the slices of blocks do not. MPI 6.12.4.
func Iscatterv[T comm.Elem](c *comm.Comm, root int, dst, src []T, blocks Blocks, opts ...Option) comm.Request {
	return newScatterv(unbound, c, root, dst, src, blocks).with(opts).start()
}

func newScatterv[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T, blocks Blocks) *call {
	x := prepare[T](ctx, c, scatterv, root)
	if x.me != root {
		src = nil
	} else if x.err == nil {
		x.shape.In = x.wantBlocks("src", len(src), blocks, &x.displs[0])
		x.wantOwn(x.shape.In, "dst", len(dst))
	}
	b := byteview.Bytes(dst)
	x.do(task{verb: sched.Scatter, dst: b, src: byteview.Bytes(src), length: len(b), layout: sched.Scattered})
	return x
}
