package collectives

import (
	"fmt"
	"reflect"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/shm/kernel"
)

// Integer are the types of BAnd, BOr and BXor.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// Real are the types with an order: those of Max and Min.
type Real interface {
	Integer | ~float32 | ~float64
}

// Number are the types of Sum and Prod.
type Number interface {
	Real | ~complex64 | ~complex128
}

// Logical are the types of LAnd, LOr and LXor. A number is true unless it is 0;
// results are 0 and 1.
type Logical interface {
	Integer | ~bool
}

// An Op is an operation of a reduction: Sum, Prod, Max, Min, BAnd, BOr, BXor, LAnd, LOr, LXor,
// Replace, or the result of Custom or CustomOf. A program passes an Op to a call, and can neither
// call an Op nor write one of its own: no other package can name the parameter of the function. An
// Op is a function, because the compiler infers the element type of a generic function such as Sum,
// and Go has no generic variables. A variable has the type Op[int], or the value Sum[int].
type Op[T comm.Elem] func(sealed) operation[T]

// sealed is the parameter of an Op. Its field prevents that other packages pass a struct{}.
type sealed struct{ _ struct{} }

// String returns the name of the operation: "sum", "prod", "max", "min", "band", "bor", "bxor",
// "land", "lor", "lxor", "custom" for an operation of the program, or "none" for a nil Op.
func (op Op[T]) String() string {
	if op == nil {
		return "none"
	}
	return op(sealed{}).code.String()
}

// Func returns the function that Custom or CustomOf was given, and nil for any other operation.
func (op Op[T]) Func() func(acc, in []T) {
	if op == nil {
		return nil
	}
	return op(sealed{}).f
}

// An operation is the implementation of an Op. Built-in operations have a code alone, so that the
// combining place can choose its fastest loop.
type operation[T comm.Elem] struct {
	code    opCode
	f       func(acc, in []T)
	ordered bool // the operation does not commute
}

// opCode names an operation; members that pass different ones find out. The built-in
// ones are numbered as in package kernel.
type opCode uint8

const (
	opSum opCode = iota + 1
	opProd
	opMax
	opMin
	opBAnd
	opBOr
	opBXor
	opLAnd
	opLOr
	opLXor
	opCustom
	opMinLoc
	opMaxLoc
)

func (o opCode) String() string {
	switch o {
	case opSum:
		return "sum"
	case opProd:
		return "prod"
	case opMax:
		return "max"
	case opMin:
		return "min"
	case opBAnd:
		return "band"
	case opBOr:
		return "bor"
	case opBXor:
		return "bxor"
	case opLAnd:
		return "land"
	case opLOr:
		return "lor"
	case opLXor:
		return "lxor"
	case opCustom:
		return "custom"
	case opMinLoc:
		return "minloc"
	case opMaxLoc:
		return "maxloc"
	}
	return fmt.Sprintf("operation %d", uint8(o))
}

// Sum adds. Integers wrap around.
func Sum[T Number](sealed) operation[T] { return operation[T]{code: opSum} }

// Prod multiplies. Integers wrap around.
func Prod[T Number](sealed) operation[T] { return operation[T]{code: opProd} }

// Max takes the larger value; with a NaN the result is NaN.
func Max[T Real](sealed) operation[T] { return operation[T]{code: opMax} }

// Min takes the smaller value; with a NaN the result is NaN.
func Min[T Real](sealed) operation[T] { return operation[T]{code: opMin} }

// BAnd is the bitwise and.
func BAnd[T Integer](sealed) operation[T] { return operation[T]{code: opBAnd} }

// BOr is the bitwise or.
func BOr[T Integer](sealed) operation[T] { return operation[T]{code: opBOr} }

// BXor is the bitwise exclusive or.
func BXor[T Integer](sealed) operation[T] { return operation[T]{code: opBXor} }

// LAnd tests whether all are true.
func LAnd[T Logical](sealed) operation[T] { return operation[T]{code: opLAnd} }

// LOr tests whether any is true.
func LOr[T Logical](sealed) operation[T] { return operation[T]{code: opLOr} }

// LXor tests whether an odd number is true.
func LXor[T Logical](sealed) operation[T] { return operation[T]{code: opLXor} }

// Custom makes an operation of a program's own function, which must be associative: f sets acc[i] =
// acc[i] op in[i] for all i, where acc comes from lower ranks than in unless the operation is
// commutative. f gets any part of the vector, from any element on, and different parts for
// different lengths, ranks and algorithms: f must therefore treat each element independently.
// Values that belong together, such as the three numbers of a point, are one element, a struct or
// an array: see CustomOf. f must not keep the slices nor change in, and must not make calls on a
// communicator: f may run wherever progress is made, in any goroutine of the process. If f makes
// such a call, except for local queries (Rank, Size), f ends with a panic and the collective with
// ErrUnsupported. Calls that f delegates to another goroutine and waits for are not detected. A
// panic of f is the panic of a blocking call, and ends a nonblocking call with ErrUnsupported.
func Custom[T comm.Elem](f func(acc, in []T), commutative bool) Op[T] {
	return func(sealed) operation[T] { return operation[T]{code: opCustom, f: f, ordered: !commutative} }
}

// CustomOf is Custom of records: structs and arrays of a fixed size without pointers, as described
// at comm.Elem. f gets whole records, never a part of one:
//
//	type moments struct{ N, Mean, M2 float64 }
//	merge := collectives.CustomOf(func(acc, in []moments) {
//		for i := range in {
//			acc[i] = acc[i].with(in[i])
//		}
//	}, true)
//	err := collectives.Allreduce(ctx, w, all, mine, merge)
func CustomOf[R any](f func(acc, in []R), commutative bool) Op[R] { return Custom(f, commutative) }

// Replace takes the value of the highest rank. In an Accumulate of package rma, Replace takes the
// new value: the call is a put that stores each element atomically (MPI 12.3.4, MPI_REPLACE).
func Replace[T comm.Elem](sealed) operation[T] {
	return operation[T]{code: opCustom, f: func(acc, in []T) { copy(acc, in) }, ordered: true}
}

// operationOf returns the implementation of an operation that may be nil.
func operationOf[T comm.Elem](op Op[T]) (operation[T], error) {
	if op == nil {
		return operation[T]{}, fmt.Errorf("%w: no operation", comm.ErrUnsupported)
	}
	k := op(sealed{})
	if k.code == 0 || k.code == opCustom && k.f == nil {
		return k, fmt.Errorf("%w: no operation", comm.ErrUnsupported)
	}
	return k, nil
}

// setOp has x combine with an operation.
func setOp[T comm.Elem](x *call, op Op[T]) {
	k, err := operationOf(op)
	if err != nil {
		x.wrong("%w", err)
		return
	}
	x.setCode(k.code)
	x.commutative = !k.ordered
	if k.code == opCustom {
		x.setFunc(func(acc, in []byte) { k.f(byteview.Of[T](acc), byteview.Of[T](in)) })
	} else if x.fold = kernel.Find(kernel.Op(k.code), kernelElem[T]()); x.fold == nil {
		x.wrong("%w: %v of these elements", comm.ErrUnsupported, k.code)
	}
}

// setCode puts the operation into the header, where that has no root.
func (x *call) setCode(code opCode) {
	if x.head.kind.takesOp() {
		x.head.what = int(code)
	}
}

// setFunc makes x combine with a function of the program. The function runs where progress is made,
// with the engine's lock held. A panic is therefore kept until the call returns, and a call of the
// library, which would wait for that lock, is refused.
func (x *call) setFunc(f func(acc, in []byte)) {
	x.fold = func(dst, left, right []byte) {
		if x.panicked == nil && !x.reentered {
			defer func() { x.panicked = recover() }()
			x.reentered = engine.Lend(func() { x.foldInto(dst, left, right, f) })
		}
	}
}

// kernelElem names the type of elements for package kernel.
func kernelElem[T comm.Elem]() kernel.Elem { return kernelElems[elemOf[T]()] }

var kernelElems = [...]kernel.Elem{
	reflect.Bool: kernel.Bool,
	reflect.Int8: kernel.Int8, reflect.Int16: kernel.Int16, reflect.Int32: kernel.Int32, reflect.Int64: kernel.Int64, reflect.Int: kernel.Int64,
	reflect.Uint8: kernel.Uint8, reflect.Uint16: kernel.Uint16, reflect.Uint32: kernel.Uint32, reflect.Uint64: kernel.Uint64, reflect.Uint: kernel.Uint64,
	reflect.Float32: kernel.Float32, reflect.Float64: kernel.Float64, reflect.Complex64: kernel.Complex64, reflect.Complex128: kernel.Complex128,
}
