package collectives

import (
	"context"
	"slices"

	"github.com/goulfm/goulfm/comm"
)

// InterGather copies src of every member of the group without the root, in rank order, into dst of
// the root. root is as described at Root. All src have the same length, and dst has RemoteSize()
// times this length: else ErrLength for dst, or ErrMismatch where a message of another length
// arrives.
// Errors: ErrRoot, ErrLength, ErrMismatch, and those of all collectives. MPI 6.5.
func InterGather[T comm.Elem](ctx context.Context, ic *comm.Intercomm, root int, dst, src []T, opts ...Option) error {
	if ic == nil {
		return Gather(ctx, nil, root, dst, src, opts...)
	}
	a := acrossFrom(ic, root)
	return newInterGather(ctx, &a, gather, dst, src).with(opts).run()
}

func newInterGather[T comm.Elem](ctx context.Context, a *across, k kind, dst, src []T) *call {
	var t topology
	var counts []int
	switch {
	case a.isRoot():
		t.in, counts, src = a.remote, a.each(len(dst)), nil
	case a.hasRoot():
		t.out, dst = a.rootAlone(), nil
	default:
		dst, src = nil, nil
	}
	x := newNeighborAllgatherv(ctx, a.union, t, true, dst, Blocks{Counts: counts}, src)
	a.check(x, k)
	a.wantParts(x, "dst", len(dst))
	return x
}

// InterScatter copies the i-th part of the root's src into dst of the i-th member of the other
// group. root is as described at Root. All dst have the same length, and src has RemoteSize() times
// this length: else ErrLength for src, or ErrMismatch where a message of another length arrives.
// Errors: ErrRoot, ErrLength, ErrMismatch, and those of all collectives. MPI 6.6.
func InterScatter[T comm.Elem](ctx context.Context, ic *comm.Intercomm, root int, dst, src []T, opts ...Option) error {
	if ic == nil {
		return Scatter(ctx, nil, root, dst, src, opts...)
	}
	a := acrossFrom(ic, root)
	var t topology
	var receives, sends []int
	switch {
	case a.isRoot():
		t.out, sends, dst = a.remote, a.each(len(src)), nil
	case a.hasRoot():
		t.in, receives, src = a.rootAlone(), []int{len(dst)}, nil
	default:
		dst, src = nil, nil
	}
	x := newNeighborAlltoallv(ctx, a.union, t, true, dst, Blocks{Counts: receives}, src, Blocks{Counts: sends})
	a.check(x, scatter)
	a.wantParts(x, "src", len(src))
	return x.with(opts).run()
}

// InterAllgather copies src of every member of the remote group, in rank order, into dst of
// every member of the local group. All src of one group have the same length, and dst of the other
// group has RemoteSize() times this length: else ErrLength, or ErrMismatch where a message of
// another length arrives. The lengths of the two groups may differ. The src of one group may have
// length 0: its members then send nothing. Errors: ErrLength, ErrMismatch, and those of all
// collectives. MPI 6.7.
func InterAllgather[T comm.Elem](ctx context.Context, ic *comm.Intercomm, dst, src []T, opts ...Option) error {
	if ic == nil {
		return Allgather(ctx, nil, dst, src, opts...)
	}
	a := acrossFrom(ic, noRoot)
	return newInterAllgather(ctx, &a, allgather, dst, src).with(opts).run()
}

func newInterAllgather[T comm.Elem](ctx context.Context, a *across, k kind, dst, src []T) *call {
	t := topology{in: a.remote, out: slices.Clone(a.remote)}
	x := newNeighborAllgatherv(ctx, a.union, t, true, dst, Blocks{Counts: a.each(len(dst))}, src)
	a.check(x, k)
	a.wantParts(x, "dst", len(dst))
	return x
}

// InterAlltoall sends the i-th part of src to the i-th member of the remote group, and stores the
// part received from the i-th member in the i-th part of dst. All parts from one group to the other
// have one length, which may be different in the other direction: else ErrLength, or ErrMismatch
// where a message of another length arrives. dst and src must not overlap. Errors: ErrLength,
// ErrMismatch, and those of all collectives. MPI 6.8.
func InterAlltoall[T comm.Elem](ctx context.Context, ic *comm.Intercomm, dst, src []T, opts ...Option) error {
	if ic == nil {
		return Alltoall(ctx, nil, dst, src, opts...)
	}
	a := acrossFrom(ic, noRoot)
	t := topology{in: a.remote, out: slices.Clone(a.remote)}
	x := newNeighborAlltoallv(ctx, a.union, t, true, dst, Blocks{Counts: a.each(len(dst))}, src, Blocks{Counts: a.each(len(src))})
	a.check(x, alltoall)
	a.wantParts(x, "dst", len(dst))
	a.wantParts(x, "src", len(src))
	return x.with(opts).run()
}
