package shmem

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// both returns an error if the symbols of a collective are invalid.
func both[T comm.Elem](op string, dst, src Sym[T]) error {
	switch {
	case dst.w == nil:
		return dst.wrong(op)
	case src.w == nil:
		return dst.raise(src.wrong(op))
	case dst.h != src.h:
		return dst.raise(dst.h.fail(op, nil, fmt.Errorf("%w: symbols of two heaps, or of a heap and its team", comm.ErrArgument)))
	}
	return nil
}

// lengths is the error of parts whose lengths do not match.
func lengths[T comm.Elem](op string, dst, src Sym[T], want int) error {
	return dst.raise(dst.h.fail(op, nil, fmt.Errorf("%w: %d elements into %d: want %d", comm.ErrLength, src.n, dst.n, want)))
}

// Broadcast copies src of the PE root to dst at all PEs (shmem_broadcast). Errors: comm.ErrRoot,
// comm.ErrLength for parts of different lengths, comm.ErrArgument for symbols of different heaps.
func Broadcast[T comm.Elem](ctx context.Context, root int, dst, src Sym[T]) error {
	const op = "broadcast"
	if err := both(op, dst, src); err != nil {
		return err
	}
	if dst.n != src.n {
		return lengths(op, dst, src, src.n)
	}
	if dst.h.PE() == root {
		copy(dst.Local(), src.Local())
	}
	return dst.h.told(op, collectives.Bcast(ctx, dst.h.win.Comm(), root, dst.Local()))
}

// Fcollect concatenates the parts src of all PEs, in order, in dst at all PEs: dst has PEs() times
// the length of src (shmem_fcollect). Errors as of Broadcast.
func Fcollect[T comm.Elem](ctx context.Context, dst, src Sym[T]) error {
	const op = "fcollect"
	if err := both(op, dst, src); err != nil {
		return err
	}
	if dst.n != src.n*dst.h.PEs() {
		return lengths(op, dst, src, src.n*dst.h.PEs())
	}
	return dst.h.told(op, collectives.Allgather(ctx, dst.h.win.Comm(), dst.Local(), src.Local()))
}

// Collect is Fcollect of parts whose lengths may differ, and returns the sum of the lengths: the
// number of written elements of dst. If dst is shorter the error is comm.ErrLength at all
// (shmem_collect).
func Collect[T comm.Elem](ctx context.Context, dst, src Sym[T]) (int, error) {
	const op = "collect"
	if err := both(op, dst, src); err != nil {
		return 0, err
	}
	c := dst.h.win.Comm()
	counts, sum := make([]int, c.Size()), 0
	if err := collectives.Allgather(ctx, c, counts, []int{src.n}); err != nil {
		return 0, dst.h.told(op, err)
	}
	for _, n := range counts {
		sum += n
	}
	if sum > dst.n {
		return sum, lengths(op, dst, src, sum)
	}
	return sum, dst.h.told(op, collectives.Allgatherv(ctx, c, dst.Local()[:sum], collectives.Blocks{Counts: counts}, src.Local()))
}

// Alltoall divides src and dst of each PE into PEs() equal parts, and copies the k-th part of src
// at PE i to the i-th part of dst at PE k (shmem_alltoall). dst and src have the same length, a
// multiple of PEs(). Errors as of Broadcast.
func Alltoall[T comm.Elem](ctx context.Context, dst, src Sym[T]) error {
	const op = "alltoall"
	if err := both(op, dst, src); err != nil {
		return err
	}
	if dst.n != src.n || src.n%dst.h.PEs() != 0 {
		return lengths(op, dst, src, roundTo(src.n, dst.h.PEs()))
	}
	return dst.h.told(op, collectives.Alltoall(ctx, dst.h.win.Comm(), dst.Local(), src.Local()))
}

func roundTo(n, unit int) int { return (n + unit - 1) / unit * unit }

// Reduce combines the src of all PEs, element by element, in dst at all PEs (shmem_sum_reduce,
// shmem_max_reduce and the like). Dst and src may be the same. Errors as of Broadcast.
func Reduce[T comm.Elem](ctx context.Context, dst, src Sym[T], op collectives.Op[T]) error {
	return fold(ctx, "reduce", dst, src, op, collectives.Allreduce[T])
}

// Scan combines at each PE the src of this PE and all before it, in order, in dst
// (shmem_sum_inscan). Errors as of Reduce.
func Scan[T comm.Elem](ctx context.Context, dst, src Sym[T], op collectives.Op[T]) error {
	return fold(ctx, "scan", dst, src, op, collectives.Scan[T])
}

// Exscan is Scan without the src of the PE itself: dst of PE 0 is unchanged (shmem_sum_exscan).
// Errors as of Reduce.
func Exscan[T comm.Elem](ctx context.Context, dst, src Sym[T], op collectives.Op[T]) error {
	return fold(ctx, "exscan", dst, src, op, collectives.Exscan[T])
}

func fold[T comm.Elem](ctx context.Context, name string, dst, src Sym[T], op collectives.Op[T],
	do func(context.Context, *comm.Comm, []T, []T, collectives.Op[T], ...collectives.Option) error) error {
	if err := both(name, dst, src); err != nil {
		return err
	}
	if dst.n != src.n {
		return lengths(name, dst, src, src.n)
	}
	return dst.h.told(name, do(ctx, dst.h.win.Comm(), dst.Local(), src.Local(), op))
}
