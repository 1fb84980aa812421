package collectives

import (
	"context"
	"sync"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
)

// AllreduceOne is Allreduce of one element. The result combines v of all members.
//
//	longest, err := collectives.AllreduceOne(ctx, w, mine, collectives.Max)
//
// With an error the result is the zero value. Errors: as of Allreduce. MPI 6.9.6.
func AllreduceOne[T comm.Elem](ctx context.Context, c *comm.Comm, v T, op Op[T], opts ...Option) (T, error) {
	o := borrow(v)
	return o.giveBack(Allreduce(ctx, c, o.one, o.one, op, opts...))
}

// ReduceOne is Reduce of one element: the root gets the combined v of all members, the others and
// calls with an error get the zero value. Errors: as of Reduce. MPI 6.9.1.
func ReduceOne[T comm.Elem](ctx context.Context, c *comm.Comm, root int, v T, op Op[T], opts ...Option) (T, error) {
	o := borrow(v)
	v, err := o.giveBack(Reduce(ctx, c, root, o.one, o.one, op, opts...))
	if c == nil || c.Rank() != root {
		var zero T
		return zero, err
	}
	return v, err
}

// BcastOne is Bcast of one element: all members get v of the root; the v of the others is not used.
// With an error the result is the zero value. Errors: as of Bcast. MPI 6.4.
func BcastOne[T comm.Elem](ctx context.Context, c *comm.Comm, root int, v T, opts ...Option) (T, error) {
	o := borrow(v)
	return o.giveBack(Bcast(ctx, c, root, o.one, opts...))
}

// ScanOne is Scan of one element. The result combines v of the members up to and including this
// one; with an error the result is the zero value. Errors: as of Scan. MPI 6.11.1.
func ScanOne[T comm.Elem](ctx context.Context, c *comm.Comm, v T, op Op[T], opts ...Option) (T, error) {
	o := borrow(v)
	return o.giveBack(Scan(ctx, c, o.one, o.one, op, opts...))
}

// A loan is the memory of one element, which a collective by messages may use until it is over: an
// element on the stack would be moved to the heap by each call.
type loan[T any] struct {
	room *loanRoom // nil: none was large enough
	one  []T
}

type loanRoom [8]uint64

var loans = sync.Pool{New: func() any { return new(loanRoom) }}

func borrow[T any](v T) (o loan[T]) {
	if size := byteview.Size[T](); size > 0 && size <= len(loanRoom{})*8 && elemOf[T]() != 0 {
		o.room = loans.Get().(*loanRoom)
		o.one = byteview.Of[T](byteview.Bytes(o.room[:])[:size])
		o.one[0] = v
		return o
	}
	o.one = []T{v}
	return o
}

// giveBack returns the element, unless the collective has failed. The loan ends in both cases.
func (o *loan[T]) giveBack(err error) (v T, _ error) {
	if err == nil {
		v = o.one[0]
	}
	if o.room != nil {
		loans.Put(o.room)
	}
	return v, err
}
