package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// Scan combines, element by element and in the order of the ranks, src of the members up to and
// including this one into dst. dst and src have one length, else ErrLength, and may be the same
// slice. Errors: ErrLength, ErrMismatch, and those of all collectives. MPI 6.11.1.
func Scan[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, op Op[T], opts ...Option) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if red, code, elem, ok := reduction(op); ok && shared(c, scan, sched.Scan, noRoot, len(from), opts) && len(to) == len(from) {
		from = apart(to, from, begins(to, from, 0))
		if done, err := inMemory(ctx, c, header{kind: scan, what: code}, elem, len(from),
			func(g *nodecoll.Group, what uint64) { g.Scan(what, to, from, red) }); done {
			return err
		}
	}
	return newScan(ctx, c, scan, sched.Scan, dst, src, op).with(opts).run()
}

// Iscan starts a Scan; dst and src belong to the request until that is over. MPI
// 6.12.11.
func Iscan[T comm.Elem](c *comm.Comm, dst, src []T, op Op[T], opts ...Option) comm.Request {
	return newScan(unbound, c, scan, sched.Scan, dst, src, op).with(opts).start()
}

// Exscan is Scan without this member's own src. At rank 0, which has no lower rank, dst stays as it
// is. MPI 6.11.2.
func Exscan[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, op Op[T], opts ...Option) error {
	to, from := byteview.Bytes(dst), byteview.Bytes(src)
	if red, code, elem, ok := reduction(op); ok && shared(c, exscan, sched.Exscan, noRoot, len(from), opts) && len(to) == len(from) {
		from = apart(to, from, begins(to, from, 0))
		if done, err := inMemory(ctx, c, header{kind: exscan, what: code}, elem, len(from),
			func(g *nodecoll.Group, what uint64) { g.Exscan(what, to, from, red) }); done {
			return err
		}
	}
	return newScan(ctx, c, exscan, sched.Exscan, dst, src, op).with(opts).run()
}

// Iexscan starts an Exscan; dst and src belong to the request until that is over. MPI
// 6.12.12.
func Iexscan[T comm.Elem](c *comm.Comm, dst, src []T, op Op[T], opts ...Option) comm.Request {
	return newScan(unbound, c, exscan, sched.Exscan, dst, src, op).with(opts).start()
}

func newScan[T comm.Elem](ctx context.Context, c *comm.Comm, k kind, verb sched.Verb, dst, src []T, op Op[T]) *call {
	x := prepare[T](ctx, c, k, noRoot)
	x.wantLength("dst", len(dst), len(src))
	setOp(x, op)
	x.vector(verb, byteview.Bytes(dst), byteview.Bytes(src))
	return x
}
