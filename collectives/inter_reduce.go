package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
)

// InterReduce combines src of all members of the group without the root, in the order of their
// ranks, into dst of the root. root is as described at Root. All src and dst have one length: else
// ErrMismatch where a message of another length arrives. The root receives the src of each member
// and combines them itself. Errors: ErrRoot, ErrUnsupported for an operation that these elements do
// not have, ErrMismatch, and those of all collectives. MPI 6.9.1.
func InterReduce[T comm.Elem](ctx context.Context, ic *comm.Intercomm, root int, dst, src []T, op Op[T], opts ...Option) error {
	if ic == nil {
		return Reduce(ctx, nil, root, dst, src, op, opts...)
	}
	a := acrossFrom(ic, root)
	var all []T
	if a.isRoot() {
		all = make([]T, len(dst)*len(a.remote))
	}
	x := newInterGather(ctx, &a, reduce, all, src).with(opts)
	if root == comm.None {
		return x.run()
	}
	return gatherAndFold(x, &a, dst, all, op)
}

// InterAllreduce combines src of all members of the remote group, in the order of their ranks, into
// dst of every member of the local group. All src and dst have one length: else ErrLength here, or
// ErrMismatch where a message of another length arrives. dst and src may be the same slice. Each
// member receives the src of each member of the other group and combines them itself. Errors:
// ErrLength, ErrMismatch, and those of all collectives. MPI 6.9.6.
func InterAllreduce[T comm.Elem](ctx context.Context, ic *comm.Intercomm, dst, src []T, op Op[T], opts ...Option) error {
	if ic == nil {
		return Allreduce(ctx, nil, dst, src, op, opts...)
	}
	a := acrossFrom(ic, noRoot)
	all := make([]T, len(src)*len(a.remote))
	x := newInterAllgather(ctx, &a, allreduce, all, src).with(opts)
	x.wantLength("dst", len(dst), len(src))
	return gatherAndFold(x, &a, dst, all, op)
}

// gatherAndFold runs x, which fills all with the contributions of the remote group, and combines
// them into dst. all is nil at a member that receives nothing.
func gatherAndFold[T comm.Elem](x *call, a *across, dst, all []T, op Op[T]) error {
	setOp(x, op)
	fold := x.fold
	if k, err := operationOf(op); err == nil && k.code == opCustom { // after the call x is another's
		fold = func(dst, _, in []byte) { k.f(byteview.Of[T](dst), byteview.Of[T](in)) }
	}
	if err := x.run(); err != nil || all == nil {
		return err
	}
	each := len(all) / len(a.remote)
	copy(dst, all)
	for from := each; from < len(all); from += each {
		fold(byteview.Bytes(dst), byteview.Bytes(dst), byteview.Bytes(all[from:from+each]))
	}
	return nil
}
