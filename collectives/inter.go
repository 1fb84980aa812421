package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// Root is the root of a collective of an intercommunicator at the root itself.
//
// A collective with a root transfers data between the root in one group and the members of the
// other. In the root's group the root passes Root, and all others comm.None: those take no part,
// and their slices may be nil. In the other group all pass the root's rank in its group.
const Root = -4

// InterBarrier returns when every member of both groups has called InterBarrier. Errors: of all
// collectives; their ranks are of the remote group. MPI 6.3.
func InterBarrier(ctx context.Context, ic *comm.Intercomm, opts ...Option) error {
	if ic == nil {
		return Barrier(ctx, nil, opts...)
	}
	union, _, _ := door.Sides(ic)
	return Barrier(ctx, union, opts...)
}

// InterBcast copies buf of the root into buf of every member of the other group. root is as
// described at Root. Errors: ErrRoot, ErrMismatch, and those of all collectives. MPI 6.4.
func InterBcast[T comm.Elem](ctx context.Context, ic *comm.Intercomm, root int, buf []T, opts ...Option) error {
	if ic == nil {
		return Bcast(ctx, nil, root, buf, opts...)
	}
	a := acrossFrom(ic, root)
	var t topology
	b := byteview.Bytes(buf)
	n := task{verb: sched.NeighborAllgather, length: len(b)}
	if a.isRoot() {
		t.out, n.src = a.remote, b
	} else if a.hasRoot() {
		t.in, n.dst = a.rootAlone(), b
	}
	x := prepareNeighbors[T](ctx, a.union, neighborAllgather, t, true)
	a.check(x, bcast)
	x.do(n)
	return x.with(opts).run()
}

// across is a collective of an intercommunicator, at one member.
type across struct {
	union  *comm.Comm
	remote []int // the ranks in union of the remote group
	root   int   // as described at Root; noRoot: the collective has none
}

func acrossFrom(ic *comm.Intercomm, root int) across {
	union, _, remote := door.Sides(ic)
	return across{union: union, remote: remote, root: root}
}

// isRoot reports whether this member is the root.
func (a *across) isRoot() bool { return a.root == Root }

// hasRoot reports whether root is a rank of the other group.
func (a *across) hasRoot() bool { return a.root >= 0 && a.root < len(a.remote) }

// rootAlone is the topology of a member that exchanges data only with the root.
func (a *across) rootAlone() []int { return []int{a.remote[a.root]} }

// check sets the kind of the collective in x, and stores the error of an impossible root. The
// header contains no root, because the root has another rank on each side.
func (a *across) check(x *call, k kind) {
	x.head.kind = k
	if k.rooted() && !a.isRoot() && a.root != comm.None && !a.hasRoot() {
		x.wrong("%w: %d in a remote group of %d: want its rank, Root, or None", comm.ErrRoot, a.root, len(a.remote))
	}
}

// each returns how many elements of n belong to each of the remote group, as counts.
func (a *across) each(n int) []int {
	counts := make([]int, len(a.remote))
	for i := range counts {
		counts[i] = n / len(counts)
	}
	return counts
}

// wantParts notes ErrLength unless a slice has a part for each of the remote group.
func (a *across) wantParts(x *call, what string, elems int) {
	if elems%len(a.remote) != 0 {
		x.wrong("%w: %s has %d elements, want a multiple of %d, the size of the remote group", comm.ErrLength, what, elems, len(a.remote))
	}
}
