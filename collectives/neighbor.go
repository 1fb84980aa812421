package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// A topology lists the ranks that this member receives from and the ranks that this member sends
// to. A rank may be listed several times. An entry may also be None: its part is neither sent nor
// changed. Edges between the same two ranks match in the order of the lists, arrivals in the given
// order, if there is one.
type topology struct{ in, out, arrivals []int }

// topologyOf returns the topology of c; ok is false if c has none.
func topologyOf(c *comm.Comm) (t topology, ok bool) {
	if c == nil {
		return t, true // which is another error
	}
	t.in, t.out, t.arrivals, ok = door.Edges(c)
	return t, ok
}

// prepareNeighbors is prepare for the collectives among neighbours.
func prepareNeighbors[T any](ctx context.Context, c *comm.Comm, k kind, t topology, ok bool) *call {
	x := prepare[T](ctx, c, k, noRoot)
	if !ok {
		x.wrong("%w: the communicator has no topology: make one with Cart, Graph or DistGraph", comm.ErrUnsupported)
	}
	for _, list := range [][]int{t.in, t.out} {
		for _, rank := range list {
			if rank != comm.None && (rank < 0 || rank >= x.n) {
				x.wrong("%w: neighbour %d in a communicator of %d", comm.ErrRank, rank, x.n)
			}
		}
	}
	x.shape.Sources, x.shape.Dests, x.shape.Arrivals = t.in, t.out, t.arrivals
	return x
}

// NeighborAllgather sends src to every out-neighbour, and stores the data from the i-th
// in-neighbour in the i-th part of dst (comm.Comm.Neighbors returns both lists). All src have the
// same length, and dst has this length for each in-neighbour: else ErrLength here, or ErrMismatch
// where a message of another length arrives. An in-neighbour comm.None, as at a border of a grid,
// has a part, too, which stays as it is. Errors: ErrUnsupported without a topology, and those of
// all collectives. MPI 8.6.1.
func NeighborAllgather[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, opts ...Option) error {
	t, ok := topologyOf(c)
	return newNeighborAllgather(ctx, c, t, ok, dst, src).with(opts).run()
}

// IneighborAllgather starts a NeighborAllgather; dst and src belong to the request
// until that is over. MPI 8.7.
func IneighborAllgather[T comm.Elem](c *comm.Comm, dst, src []T, opts ...Option) comm.Request {
	t, ok := topologyOf(c)
	return newNeighborAllgather(unbound, c, t, ok, dst, src).with(opts).start()
}

func newNeighborAllgather[T comm.Elem](ctx context.Context, c *comm.Comm, t topology, ok bool, dst, src []T) *call {
	x := prepareNeighbors[T](ctx, c, neighborAllgather, t, ok)
	x.wantLength("dst", len(dst), len(src)*len(t.in))
	b := byteview.Bytes(src)
	x.do(task{verb: sched.NeighborAllgather, dst: byteview.Bytes(dst), src: b, length: len(b)})
	return x
}

// NeighborAllgatherv is NeighborAllgather of parts of any lengths: this member stores the data from
// the i-th in-neighbour in the i-th of the blocks of dst. Blocks has one entry for each
// in-neighbour. Errors: ErrLength, ErrBuffer, ErrUnsupported without a topology, ErrMismatch, and
// those of all collectives. MPI 8.6.1.
func NeighborAllgatherv[T comm.Elem](ctx context.Context, c *comm.Comm, dst []T, blocks Blocks, src []T, opts ...Option) error {
	t, ok := topologyOf(c)
	return newNeighborAllgatherv(ctx, c, t, ok, dst, blocks, src).with(opts).run()
}

// IneighborAllgatherv starts a NeighborAllgatherv; dst and src belong to the request
// until that is over, the slices of blocks do not. MPI 8.7.
func IneighborAllgatherv[T comm.Elem](c *comm.Comm, dst []T, blocks Blocks, src []T, opts ...Option) comm.Request {
	t, ok := topologyOf(c)
	return newNeighborAllgatherv(unbound, c, t, ok, dst, blocks, src).with(opts).start()
}

func newNeighborAllgatherv[T comm.Elem](ctx context.Context, c *comm.Comm, t topology, ok bool, dst []T, blocks Blocks, src []T) *call {
	x := prepareNeighbors[T](ctx, c, neighborAllgatherv, t, ok)
	if x.err == nil {
		x.shape.Out = x.wantBlocksOf(len(t.in), "dst", len(dst), blocks, &x.displs[0])
	}
	b := byteview.Bytes(src)
	x.do(task{verb: sched.NeighborAllgather, dst: byteview.Bytes(dst), src: b, length: len(b), layout: sched.Scattered})
	return x
}

// NeighborAlltoall sends the i-th part of src to the i-th out-neighbour, and stores the data from
// the i-th in-neighbour in the i-th part of dst. All parts have one length, those of the neighbours
// comm.None included, which are neither sent nor changed: else ErrLength here, or ErrMismatch where
// a message of another length arrives. dst and src may be the same slice. Errors: ErrUnsupported
// without a topology, and those of all collectives. MPI 8.6.2.
func NeighborAlltoall[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T, opts ...Option) error {
	t, ok := topologyOf(c)
	return newNeighborAlltoall(ctx, c, t, ok, dst, src).with(opts).run()
}

// IneighborAlltoall starts a NeighborAlltoall; dst and src belong to the request until
// that is over. MPI 8.7.
func IneighborAlltoall[T comm.Elem](c *comm.Comm, dst, src []T, opts ...Option) comm.Request {
	t, ok := topologyOf(c)
	return newNeighborAlltoall(unbound, c, t, ok, dst, src).with(opts).start()
}

func newNeighborAlltoall[T comm.Elem](ctx context.Context, c *comm.Comm, t topology, ok bool, dst, src []T) *call {
	x := prepareNeighbors[T](ctx, c, neighborAlltoall, t, ok)
	each, of, parts := len(src), "src", len(t.out)
	if parts == 0 {
		x.wantLength("src", len(src), 0)
		each, of, parts = len(dst), "dst", len(t.in)
	}
	if parts > 0 && each%parts != 0 {
		x.wrong("%w: %s has %d elements, want a multiple of %d", comm.ErrLength, of, each, parts)
	}
	each /= max(parts, 1)
	x.wantLength("dst", len(dst), each*len(t.in))
	x.do(task{verb: sched.NeighborAlltoall, dst: byteview.Bytes(dst), src: byteview.Bytes(src), length: each * x.unit})
	return x
}

// NeighborAlltoallv is NeighborAlltoall of parts of any lengths, as Alltoallv: srcBlocks has one
// entry for each out-neighbour, and dstBlocks one for each in-neighbour. Errors: ErrLength,
// ErrBuffer, ErrUnsupported without a topology, ErrMismatch, and those of all collectives. MPI
// 8.6.2.
func NeighborAlltoallv[T comm.Elem](ctx context.Context, c *comm.Comm, dst []T, dstBlocks Blocks, src []T, srcBlocks Blocks, opts ...Option) error {
	t, ok := topologyOf(c)
	return newNeighborAlltoallv(ctx, c, t, ok, dst, dstBlocks, src, srcBlocks).with(opts).run()
}

// IneighborAlltoallv starts a NeighborAlltoallv; dst and src belong to the request until
// that is over, the slices of the blocks do not. MPI 8.7.
func IneighborAlltoallv[T comm.Elem](c *comm.Comm, dst []T, dstBlocks Blocks, src []T, srcBlocks Blocks, opts ...Option) comm.Request {
	t, ok := topologyOf(c)
	return newNeighborAlltoallv(unbound, c, t, ok, dst, dstBlocks, src, srcBlocks).with(opts).start()
}

func newNeighborAlltoallv[T comm.Elem](ctx context.Context, c *comm.Comm, t topology, ok bool, dst []T, dstBlocks Blocks, src []T, srcBlocks Blocks) *call {
	x := prepareNeighbors[T](ctx, c, neighborAlltoallv, t, ok)
	if x.err == nil {
		x.shape.Out = x.wantBlocksOf(len(t.in), "dst", len(dst), dstBlocks, &x.displs[0])
	}
	if x.err == nil {
		x.shape.In = x.wantBlocksOf(len(t.out), "src", len(src), srcBlocks, &x.displs[1])
	}
	x.do(task{verb: sched.NeighborAlltoall, dst: byteview.Bytes(dst), src: byteview.Bytes(src), layout: sched.Scattered})
	return x
}
