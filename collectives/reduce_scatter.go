package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// ReduceScatterBlock combines src of all members, element by element, and cuts the
// result into Size() equal parts, of which rank i gets the i-th in dst. src has len(dst)
// times Size() elements: else ErrLength. dst may be a part of src. Errors: ErrLength,
// ErrMismatch, and those of all collectives. MPI 6.10.1.
func ReduceScatterBlock[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, op Op[T], opts ...Option) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	red, code, elem, ok := reduction(op)
	if ok && shared(c, reduceScatterBlock, sched.ReduceScatter, noRoot, len(to), opts) && len(from) == len(to)*c.Size() {
		if done, err := inMemory(ctx, c, header{kind: reduceScatterBlock, what: code}, elem, len(to),
			func(g *nodecoll.Group, what uint64) { g.ReduceScatter(what, to, from, red) }); done {
			return err
		}
	}
	return newReduceScatterBlock(ctx, c, dst, src, op).with(opts).run()
}

// IreduceScatterBlock starts a ReduceScatterBlock; dst and src belong to the request
// until that is over. MPI 6.12.9.
func IreduceScatterBlock[T comm.Elem](c *comm.Comm, dst, src []T, op Op[T], opts ...Option) comm.Request {
	return newReduceScatterBlock(unbound, c, dst, src, op).with(opts).start()
}

func newReduceScatterBlock[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, op Op[T]) *call {
	x := prepare[T](ctx, c, reduceScatterBlock, noRoot)
	x.wantLength("src", len(src), len(dst)*x.n)
	setOp(x, op)
	b := byteview.Bytes(dst)
	x.do(task{verb: sched.ReduceScatter, dst: b, src: byteview.Bytes(src), length: len(b), sized: true, note: len(b)})
	return x
}

// ReduceScatter is ReduceScatterBlock with parts of any lengths: rank i gets counts[i]
// elements. counts are the same at all members; they have Size() entries, this member's
// is the length of dst, and all together that of src: else ErrLength. dst may be a part
// of src. Errors: ErrLength, ErrMismatch, and those of all collectives. MPI 6.10.2.
func ReduceScatter[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, counts []int, op Op[T], opts ...Option) error {
	return newReduceScatter(ctx, c, dst, src, counts, op).with(opts).run()
}

// IreduceScatter starts a ReduceScatter; dst and src belong to the request until that
// is over, counts do not. MPI 6.12.10.
func IreduceScatter[T comm.Elem](c *comm.Comm, dst, src []T, counts []int, op Op[T], opts ...Option) comm.Request {
	return newReduceScatter(unbound, c, dst, src, counts, op).with(opts).start()
}

func newReduceScatter[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, counts []int, op Op[T]) *call {
	x := prepare[T](ctx, c, reduceScatter, noRoot)
	if x.err == nil {
		x.shape.In = x.wantBlocks("src", len(src), Blocks{Counts: counts}, &x.displs[0])
		x.wantOwn(x.shape.In, "dst", len(dst))
	}
	x.wantLength("src", len(src), sum(counts))
	setOp(x, op)
	b := byteview.Bytes(src)
	x.do(task{verb: sched.ReduceScatter, dst: byteview.Bytes(dst), src: b, length: len(b) / x.n, layout: sched.Packed, sized: true, note: len(b)})
	return x
}
