package shmem

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// Collectives are of all PEs of the heap by which the symbols are seen: that of dst, which src has
// to have, too. All give the same objects and parts. What a PE reads is its own part of src, what
// it writes its own part of dst. They do not complete other operations. When a PE has died they
// fail as those of package collectives do.

// both says what is wrong with the symbols of a collective.
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

// lengths is the error of parts that do not fit.
func lengths[T comm.Elem](op string, dst, src Sym[T], want int) error {
	return dst.raise(dst.h.fail(op, nil, fmt.Errorf("%w: %d elements into %d: want %d", comm.ErrLength, src.n, dst.n, want)))
}

// Broadcast has dst be at all PEs what src is at the PE root (shmem_broadcast). Errors:
// comm.ErrRoot, comm.ErrLength for parts of different lengths, comm.ErrArgument for symbols of
// different heaps.
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

// Fcollect has dst be at all PEs the parts src of all PEs, in order: it has PEs times their length
// (shmem_fcollect). Errors as of Broadcast.
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

// Collect is Fcollect of parts whose lengths may differ, of which it returns the sum: as many
// elements of dst are written, and comm.ErrLength at all if there are not as many (shmem_collect).
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
	return sum, dst.h.told(op, collectives.Allgatherv(ctx, c, dst.Local()[:sum], counts, nil, src.Local()))
}

// Alltoall has the k-th of PEs equal parts of src at PE i be the i-th of dst at PE k
// (shmem_alltoall). Errors as of Broadcast; the lengths are multiples of PEs.
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

// Reduce has dst be at all PEs the src of all combined, element by element (shmem_sum_reduce,
// shmem_max_reduce and the like). Dst and src may be the same. Errors as of Broadcast.
func Reduce[T comm.Elem](ctx context.Context, dst, src Sym[T], op collectives.Op[T]) error {
	return fold(ctx, "reduce", dst, src, op, collectives.Allreduce[T])
}

// Scan has dst be at each PE the src of it and all before it combined, in order (shmem_sum_inscan).
// Errors as of Reduce.
func Scan[T comm.Elem](ctx context.Context, dst, src Sym[T], op collectives.Op[T]) error {
	return fold(ctx, "scan", dst, src, op, collectives.Scan[T])
}

// Exscan is Scan without the PE itself: that of PE 0 is left as it was (shmem_sum_exscan).
func Exscan[T comm.Elem](ctx context.Context, dst, src Sym[T], op collectives.Op[T]) error {
	return fold(ctx, "exscan", dst, src, op, collectives.Exscan[T])
}

func fold[T comm.Elem](ctx context.Context, name string, dst, src Sym[T], op collectives.Op[T],
	do func(context.Context, *comm.Comm, []T, []T, collectives.Op[T]) error) error {
	if err := both(name, dst, src); err != nil {
		return err
	}
	if dst.n != src.n {
		return lengths(name, dst, src, src.n)
	}
	return dst.h.told(name, do(ctx, dst.h.win.Comm(), dst.Local(), src.Local(), op))
}
