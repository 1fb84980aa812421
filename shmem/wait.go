package shmem

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// A Cmp is the comparison of an element with a value in a wait.
type Cmp uint8

// The comparisons, with the element on the left: equal, not equal, greater, greater or equal, less,
// less or equal.
const (
	EQ Cmp = iota + 1
	NE
	GT
	GE
	LT
	LE
)

// holds reports whether a cmp b.
func holds[T collectives.Real](c Cmp, a, b T) bool {
	switch c {
	case EQ:
		return a == b
	case NE:
		return a != b
	case GT:
		return a > b
	case GE:
		return a >= b
	case LT:
		return a < b
	}
	return a <= b
}

// WaitUntil returns when the comparison of element i of this PE with v holds, with the element's
// value. All stores of the storing PE before its store of this value (by P, an atomic operation or
// a signal) are visible then. WaitUntil polls for a time, and then blocks.
//
// From are the PEs that may store the awaited value: when one of them is dead the error is
// comm.ErrProcFailed. Without from, the death of any PE causes this error. A comparison that holds
// takes precedence (W17). Other errors: comm.ErrRank, rma.ErrBounds, comm.ErrArgument for another
// cmp, comm.ErrRevoked, comm.ErrFreed; if ctx ends the wait is withdrawn (shmem_wait_until,
// shmem_signal_wait_until).
func WaitUntil[T collectives.Real](ctx context.Context, s Sym[T], i int, cmp Cmp, v T, from ...int) (T, error) {
	var zero T
	if err := s.mayCompare("wait_until", i, 1, cmp); err != nil {
		return zero, s.raise(err)
	}
	return s.w.Wait(ctx, s.at+i, func(now T) bool { return holds(cmp, now, v) }, from...)
}

// Test reports whether the comparison of element i of this PE with v holds (shmem_test). Errors:
// rma.ErrBounds, comm.ErrArgument for another cmp, comm.ErrRevoked, comm.ErrFreed.
func Test[T collectives.Real](ctx context.Context, s Sym[T], i int, cmp Cmp, v T) (bool, error) {
	if err := s.mayCompare("test", i, 1, cmp); err != nil {
		return false, s.raise(err)
	}
	now, err := s.Fetch(ctx, s.h.PE(), i)
	return err == nil && holds(cmp, now, v), err
}

// WaitUntilAll returns when the comparisons of all elements of this PE with values hold: one value
// for each, or one for all. Elements with a true skip are left out; a nil skip leaves out none.
// Errors as of WaitUntil, and comm.ErrLength for values or skip of another length; a revocation
// takes precedence over comparisons that hold (shmem_wait_until_all, _all_vector).
func WaitUntilAll[T collectives.Real](ctx context.Context, s Sym[T], skip []bool, cmp Cmp, values []T, from ...int) error {
	return done(waitSeveral(ctx, "wait_until_all", s, skip, cmp, values, from, func(found, of int) bool { return found == of }))
}

// WaitUntilAny returns the index of the first element whose comparison holds, when there is one; -1
// at once if all are left out. See WaitUntilAll (shmem_wait_until_any, _any_vector).
func WaitUntilAny[T collectives.Real](ctx context.Context, s Sym[T], skip []bool, cmp Cmp, values []T, from ...int) (int, error) {
	found, err := WaitUntilSome(ctx, s, skip, cmp, values, from...)
	return first(found), err
}

// WaitUntilSome returns the indices of all elements whose comparisons hold, in order, when there
// are any; none at once if all are left out. See WaitUntilAll (shmem_wait_until_some,
// _some_vector).
func WaitUntilSome[T collectives.Real](ctx context.Context, s Sym[T], skip []bool, cmp Cmp, values []T, from ...int) ([]int, error) {
	return waitSeveral(ctx, "wait_until_some", s, skip, cmp, values, from, func(found, of int) bool { return found > 0 || of == 0 })
}

// TestAll reports whether the comparisons of all elements hold, as WaitUntilAll compares them, and
// does not wait (shmem_test_all). Errors: those of Test, and comm.ErrLength for values or skip of
// another length.
func TestAll[T collectives.Real](ctx context.Context, s Sym[T], skip []bool, cmp Cmp, values []T) (bool, error) {
	found, of, err := look(ctx, "test_all", s, skip, cmp, values, nil)
	return err == nil && len(found) == of, err
}

// TestAny is WaitUntilAny that does not wait: -1 if there is none (shmem_test_any). Errors as of
// TestAll.
func TestAny[T collectives.Real](ctx context.Context, s Sym[T], skip []bool, cmp Cmp, values []T) (int, error) {
	found, _, err := look(ctx, "test_any", s, skip, cmp, values, nil)
	return first(found), err
}

// TestSome is WaitUntilSome that does not wait: none if no comparison holds (shmem_test_some).
// Errors as of TestAll.
func TestSome[T collectives.Real](ctx context.Context, s Sym[T], skip []bool, cmp Cmp, values []T) ([]int, error) {
	found, _, err := look(ctx, "test_some", s, skip, cmp, values, nil)
	return found, err
}

func first(found []int) int {
	if len(found) == 0 {
		return -1
	}
	return found[0]
}

// mayCompare returns an error if a comparison is invalid.
func (s Sym[T]) mayCompare(op string, i, n int, cmp Cmp) error {
	switch {
	case s.w == nil:
		return s.wrong(op)
	case s.isOutside(i, n):
		return s.outside(op, s.h.PE(), i, n)
	case cmp < EQ || cmp > LE:
		return s.h.fail(op, nil, fmt.Errorf("%w: comparison %d", comm.ErrArgument, cmp))
	}
	return nil
}

// look finds the elements whose comparisons hold, and returns the number of compared elements, too.
func look[T collectives.Real](ctx context.Context, op string, s Sym[T], skip []bool, cmp Cmp, values []T, found []int) ([]int, int, error) {
	err := s.mayCompare(op, 0, s.n, cmp)
	switch {
	case err != nil:
	case len(values) != 1 && len(values) != s.n:
		err = s.h.fail(op, nil, fmt.Errorf("%w: %d values for %d elements", comm.ErrLength, len(values), s.n))
	case skip != nil && len(skip) != s.n:
		err = s.h.fail(op, nil, fmt.Errorf("%w: skip says of %d elements what of %d is asked", comm.ErrLength, len(skip), s.n))
	}
	if err != nil {
		return nil, 0, s.raise(err)
	}
	found = found[:0]
	of, me := 0, s.h.PE()
	for i := range s.n {
		if skip != nil && skip[i] {
			continue
		}
		of++
		now, err := s.w.At(me).Load(ctx, s.at+i)
		if err != nil {
			return nil, 0, err
		}
		if holds(cmp, now, values[min(i, len(values)-1)]) {
			found = append(found, i)
		}
	}
	return found, of, nil
}

// waitSeveral waits until the comparisons of enough elements hold.
func waitSeveral[T collectives.Real](ctx context.Context, op string, s Sym[T], skip []bool, cmp Cmp, values []T, from []int, enough func(found, of int) bool) ([]int, error) {
	found, of, err := look(ctx, op, s, skip, cmp, values, nil)
	if err != nil || enough(len(found), of) {
		return found, err
	}
	_, waited := s.w.Wait(ctx, s.at, func(T) bool { // any element of s would do: all wake the same waiters
		found, of, err = look(ctx, op, s, skip, cmp, values, found)
		return err != nil || enough(len(found), of)
	}, from...)
	if waited != nil {
		return nil, waited
	}
	return found, err
}
