package collectives

import (
	"context"
	"fmt"
	"reflect"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// A Loc is a value and its location: a rank, or any number that names a place.
type Loc[V Real] struct {
	Value V
	Index int
}

// A LocOp is an operation on values with their places: MinLoc or MaxLoc. A program passes a LocOp,
// and can neither call nor make one.
type LocOp[V Real] func(sealed) locOperation[V]

// A locOperation is the implementation of a LocOp.
type locOperation[V Real] struct {
	code   opCode
	better func(a, b V) bool
}

// MinLoc takes the smallest value and its index; of equal ones the lowest index. A NaN
// counts as smaller than all.
func MinLoc[V Real](sealed) locOperation[V] {
	return locOperation[V]{opMinLoc, func(a, b V) bool { return a < b || a != a && b == b }}
}

// MaxLoc takes the largest value and its index; of equal ones the lowest index. A NaN
// counts as larger than all.
func MaxLoc[V Real](sealed) locOperation[V] {
	return locOperation[V]{opMaxLoc, func(a, b V) bool { return a > b || a != a && b == b }}
}

// ReduceLoc is Reduce of values with their places. Errors: as of Reduce. MPI 6.9.4.
func ReduceLoc[V Real](ctx context.Context, c *comm.Comm, root int, dst, src []Loc[V], op LocOp[V], opts ...Option) error {
	x := prepare[Loc[V]](ctx, c, reduceLoc, root)
	if x.me == root {
		x.wantLength("dst", len(dst), len(src))
	} else {
		dst = nil
	}
	setLoc(x, op)
	x.vector(sched.ReduceTo, byteview.Bytes(dst), byteview.Bytes(src))
	return x.with(opts).run()
}

// AllreduceLoc is Allreduce of values with their places. Errors: as of Allreduce. MPI
// 6.9.4.
func AllreduceLoc[V Real](ctx context.Context, c *comm.Comm, dst, src []Loc[V], op LocOp[V], opts ...Option) error {
	x := prepare[Loc[V]](ctx, c, allreduceLoc, noRoot)
	x.wantLength("dst", len(dst), len(src))
	setLoc(x, op)
	x.vector(sched.Allreduce, byteview.Bytes(dst), byteview.Bytes(src))
	return x.with(opts).run()
}

// locElem is the bit in an element's code that marks a Loc of the type.
const locElem = 1 << 6

func setLoc[V Real](x *call, op LocOp[V]) {
	x.Elem = uint8(reflect.TypeFor[V]().Kind()) | locElem
	var k locOperation[V]
	if op != nil {
		k = op(sealed{})
	}
	if k.better == nil {
		x.wrong("%w", fmt.Errorf("%w: no operation", comm.ErrUnsupported))
		return
	}
	x.setCode(k.code)
	x.fold = func(dst, left, right []byte) {
		x.foldInto(dst, left, right, func(acc, in []byte) { k.combine(byteview.Of[Loc[V]](acc), byteview.Of[Loc[V]](in)) })
	}
}

func (k locOperation[V]) combine(acc, in []Loc[V]) {
	for i, b := range in {
		a := acc[i]
		if k.better(b.Value, a.Value) || !k.better(a.Value, b.Value) && b.Index < a.Index {
			acc[i] = b
		}
	}
}
