package collectives

import (
	"context"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/sched"
	"github.com/goulfm/goulfm/internal/view"
)

// Self is the root of an InterBcast at the root itself.
const Self = -4

// InterBarrier returns when every member of both groups has called it. Errors: of all
// collectives; their ranks are of the remote group. MPI 6.3.
func InterBarrier(ctx context.Context, ic *comm.Intercomm) error {
	if ic == nil {
		return Barrier(ctx, nil)
	}
	union, _, _ := door.Sides(ic)
	return Barrier(ctx, union)
}

// InterBcast copies buf of the root into buf of every member of the other group. There
// root is the root's rank in its group; at the root it is Self, and at the other members
// of the root's group comm.None: they do nothing, and their buf may be nil. Errors:
// ErrRoot, ErrMismatch, and those of all collectives. MPI 6.4.
func InterBcast[T comm.Elem](ctx context.Context, ic *comm.Intercomm, root int, buf []T) error {
	if ic == nil {
		return Bcast(ctx, nil, root, buf)
	}
	union, _, remote := door.Sides(ic)
	var t topology
	b := view.Bytes(buf)
	n := task{verb: sched.NeighborAllgather, length: len(b)}
	switch {
	case root == Self:
		t.out, n.src = remote, b
	case root >= 0 && root < len(remote):
		t.in, n.dst = []int{remote[root]}, b
	}
	x := prepareNeighbors[T](ctx, union, neighborAllgather, t, true)
	x.head.kind = bcast // no root in it: that is another rank on each side
	if root != Self && root != comm.None && (root < 0 || root >= len(remote)) {
		x.wrong("%w: %d in a remote group of %d: want its rank, Self, or None", comm.ErrRoot, root, len(remote))
	}
	x.do(n)
	return x.run()
}

// InterAllreduce combines src of all members of the remote group, in the order of their
// ranks, into dst of every member of the local group. All src and dst have one length:
// else ErrLength here, or ErrMismatch where a message of another length arrives. dst and
// src may be the same slice. Each member gets what each of the other group contributes,
// and combines it itself. Errors: ErrLength, ErrMismatch, and those of all collectives.
// MPI 6.9.6.
func InterAllreduce[T comm.Elem](ctx context.Context, ic *comm.Intercomm, dst, src []T, op Op[T]) error {
	if ic == nil {
		return Allreduce(ctx, nil, dst, src, op)
	}
	union, _, remote := door.Sides(ic)
	all := make([]T, len(src)*len(remote))
	x := newNeighborAllgather(ctx, union, topology{in: remote, out: slices.Clone(remote)}, true, all, src)
	x.head.kind = allreduce
	x.wantLength("dst", len(dst), len(src))
	setOp(x, op)
	fold := x.fold
	if k, err := kernelOf(op); err == nil && k.code == opCustom { // after the call x is another's
		fold = func(dst, _, in []byte) { k.f(view.Of[T](dst), view.Of[T](in)) }
	}
	if err := x.run(); err != nil {
		return err
	}
	copy(dst, all)
	for from := len(src); from < len(all); from += len(src) {
		fold(view.Bytes(dst), view.Bytes(dst), view.Bytes(all[from:from+len(src)]))
	}
	return nil
}
