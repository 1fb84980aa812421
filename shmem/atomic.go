package shmem

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
)

// Fetch returns element i of a PE, atomically (shmem_atomic_fetch). Errors: those of Put, and
// comm.ErrType for records and complex128.
func (s Sym[T]) Fetch(ctx context.Context, pe, i int) (T, error) {
	if s.isOutside(i, 1) {
		var zero T
		return zero, s.raise(s.outside("fetch", pe, i, 1))
	}
	return s.w.At(pe).Load(ctx, s.at+i)
}

// Set stores v in element i of a PE, atomically (shmem_atomic_set). Errors as of Fetch.
func (s Sym[T]) Set(ctx context.Context, pe, i int, v T) error {
	if s.isOutside(i, 1) {
		return s.raise(s.outside("set", pe, i, 1))
	}
	return s.w.At(pe).Store(ctx, s.at+i, v)
}

// Swap stores v in element i of a PE, atomically, and returns the previous value
// (shmem_atomic_swap). Errors as of Fetch.
func (s Sym[T]) Swap(ctx context.Context, pe, i int, v T) (T, error) {
	return s.FetchOp(ctx, pe, i, v, collectives.Replace)
}

// CompareSwap stores v in element i of a PE if the element equals cond, atomically, and returns the
// previous value: v was stored if and only if the result is cond. Floats are compared by their bits
// (shmem_atomic_compare_swap). Errors as of Fetch.
func (s Sym[T]) CompareSwap(ctx context.Context, pe, i int, cond, v T) (T, error) {
	if s.isOutside(i, 1) {
		var zero T
		return zero, s.raise(s.outside("compare_swap", pe, i, 1))
	}
	prev, _, err := s.w.At(pe).CompareAndSwap(ctx, s.at+i, cond, v)
	return prev, err
}

// FetchOp combines element i of a PE with v by any operation of package collectives, atomically,
// and returns the previous value. The functions Add, And, Or and Xor are the operations that
// OpenSHMEM names. Errors as of Fetch, and those of rma.Target.FetchAndOp.
func (s Sym[T]) FetchOp(ctx context.Context, pe, i int, v T, op collectives.Op[T]) (T, error) {
	if s.isOutside(i, 1) {
		var zero T
		return zero, s.raise(s.outside("fetch_op", pe, i, 1))
	}
	return s.w.At(pe).FetchAndOp(ctx, s.at+i, v, op)
}

// done drops the result of an operation and returns its error.
func done[T any](_ T, err error) error { return err }

// Add adds v to element i of a PE, atomically (shmem_atomic_add). Errors as of FetchOp.
func Add[T collectives.Number](ctx context.Context, s Sym[T], pe, i int, v T) error {
	return done(s.FetchOp(ctx, pe, i, v, collectives.Sum))
}

// FetchAdd is Add that returns the previous value (shmem_atomic_fetch_add). Errors as of FetchOp.
func FetchAdd[T collectives.Number](ctx context.Context, s Sym[T], pe, i int, v T) (T, error) {
	return s.FetchOp(ctx, pe, i, v, collectives.Sum)
}

// Inc adds 1 to element i of a PE, atomically (shmem_atomic_inc). Errors as of FetchOp.
func Inc[T collectives.Number](ctx context.Context, s Sym[T], pe, i int) error {
	return Add(ctx, s, pe, i, 1)
}

// FetchInc is Inc that returns the previous value (shmem_atomic_fetch_inc). Errors as of FetchOp.
func FetchInc[T collectives.Number](ctx context.Context, s Sym[T], pe, i int) (T, error) {
	return FetchAdd(ctx, s, pe, i, 1)
}

// And clears in element i of a PE the bits that are clear in v, atomically (shmem_atomic_and).
// Errors as of FetchOp.
func And[T collectives.Integer](ctx context.Context, s Sym[T], pe, i int, v T) error {
	return done(s.FetchOp(ctx, pe, i, v, collectives.BAnd))
}

// FetchAnd is And that returns the previous value (shmem_atomic_fetch_and). Errors as of FetchOp.
func FetchAnd[T collectives.Integer](ctx context.Context, s Sym[T], pe, i int, v T) (T, error) {
	return s.FetchOp(ctx, pe, i, v, collectives.BAnd)
}

// Or sets in element i of a PE the bits that are set in v, atomically (shmem_atomic_or). Errors as
// of FetchOp.
func Or[T collectives.Integer](ctx context.Context, s Sym[T], pe, i int, v T) error {
	return done(s.FetchOp(ctx, pe, i, v, collectives.BOr))
}

// FetchOr is Or that returns the previous value (shmem_atomic_fetch_or). Errors as of FetchOp.
func FetchOr[T collectives.Integer](ctx context.Context, s Sym[T], pe, i int, v T) (T, error) {
	return s.FetchOp(ctx, pe, i, v, collectives.BOr)
}

// Xor inverts in element i of a PE the bits that are set in v, atomically (shmem_atomic_xor).
// Errors as of FetchOp.
func Xor[T collectives.Integer](ctx context.Context, s Sym[T], pe, i int, v T) error {
	return done(s.FetchOp(ctx, pe, i, v, collectives.BXor))
}

// FetchXor is Xor that returns the previous value (shmem_atomic_fetch_xor). Errors as of FetchOp.
func FetchXor[T collectives.Integer](ctx context.Context, s Sym[T], pe, i int, v T) (T, error) {
	return s.FetchOp(ctx, pe, i, v, collectives.BXor)
}
