package collectives

import (
	"fmt"
	"reflect"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/view"
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

// An Op is an operation of a reduction, as Sum or Max: a function to pass, not
// to call.
type Op[T comm.Elem] func() Kernel[T]

// A Kernel is what an Op stands for. Built-in ones carry a code alone, so that
// the place that combines chooses the fastest loop it knows.
type Kernel[T comm.Elem] struct {
	code opCode
	f    func(acc, in []T)
}

// opCode names an operation; members that pass different ones find out.
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
	}
	return fmt.Sprintf("operation %d", uint8(o))
}

// Sum adds. Integers wrap around.
func Sum[T Number]() Kernel[T] { return Kernel[T]{code: opSum} }

// Prod multiplies. Integers wrap around.
func Prod[T Number]() Kernel[T] { return Kernel[T]{code: opProd} }

// Max takes the larger value; with a NaN the result is NaN.
func Max[T Real]() Kernel[T] { return Kernel[T]{code: opMax} }

// Min takes the smaller value; with a NaN the result is NaN.
func Min[T Real]() Kernel[T] { return Kernel[T]{code: opMin} }

// BAnd is the bitwise and.
func BAnd[T Integer]() Kernel[T] { return Kernel[T]{code: opBAnd} }

// BOr is the bitwise or.
func BOr[T Integer]() Kernel[T] { return Kernel[T]{code: opBOr} }

// BXor is the bitwise exclusive or.
func BXor[T Integer]() Kernel[T] { return Kernel[T]{code: opBXor} }

// LAnd says whether all are true.
func LAnd[T Logical]() Kernel[T] { return Kernel[T]{code: opLAnd} }

// LOr says whether any is true.
func LOr[T Logical]() Kernel[T] { return Kernel[T]{code: opLOr} }

// LXor says whether an odd number is true.
func LXor[T Logical]() Kernel[T] { return Kernel[T]{code: opLXor} }

// Custom makes an operation of a program's own function, which must be
// associative: f sets acc[i] = acc[i] op in[i] for all i, where acc comes from
// lower ranks than in. It must not keep the slices nor change in. Whether it is
// commutative is used for speed alone.
func Custom[T comm.Elem](f func(acc, in []T), commutative bool) Op[T] {
	_ = commutative // all ways here keep the order of the ranks
	return func() Kernel[T] { return Kernel[T]{code: opCustom, f: f} }
}

// kernelOf returns the kernel of an operation that may be nil.
func kernelOf[T comm.Elem](op Op[T]) (Kernel[T], error) {
	if op == nil {
		return Kernel[T]{}, fmt.Errorf("%w: no operation", comm.ErrUnsupported)
	}
	k := op()
	if k.code == 0 || k.code == opCustom && k.f == nil {
		return k, fmt.Errorf("%w: no operation", comm.ErrUnsupported)
	}
	return k, nil
}

// apply sets acc[i] = acc[i] op in[i]. The slices have one length.
func (k Kernel[T]) apply(acc, in []T) {
	if k.code == opCustom {
		k.f(acc, in)
		return
	}
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int8:
		integers(k.code, view.As[int8](acc), view.As[int8](in))
	case reflect.Int16:
		integers(k.code, view.As[int16](acc), view.As[int16](in))
	case reflect.Int32:
		integers(k.code, view.As[int32](acc), view.As[int32](in))
	case reflect.Int64:
		integers(k.code, view.As[int64](acc), view.As[int64](in))
	case reflect.Int:
		integers(k.code, view.As[int](acc), view.As[int](in))
	case reflect.Uint8:
		integers(k.code, view.As[uint8](acc), view.As[uint8](in))
	case reflect.Uint16:
		integers(k.code, view.As[uint16](acc), view.As[uint16](in))
	case reflect.Uint32:
		integers(k.code, view.As[uint32](acc), view.As[uint32](in))
	case reflect.Uint64:
		integers(k.code, view.As[uint64](acc), view.As[uint64](in))
	case reflect.Uint:
		integers(k.code, view.As[uint](acc), view.As[uint](in))
	case reflect.Float32:
		reals(k.code, view.As[float32](acc), view.As[float32](in))
	case reflect.Float64:
		reals(k.code, view.As[float64](acc), view.As[float64](in))
	case reflect.Complex64:
		numbers(k.code, view.As[complex64](acc), view.As[complex64](in))
	case reflect.Complex128:
		numbers(k.code, view.As[complex128](acc), view.As[complex128](in))
	case reflect.Bool:
		bools(k.code, view.As[bool](acc), view.As[bool](in))
	}
}

func integers[T Integer](code opCode, acc, in []T) {
	in = in[:len(acc)]
	switch code {
	case opBAnd:
		for i := range acc {
			acc[i] &= in[i]
		}
	case opBOr:
		for i := range acc {
			acc[i] |= in[i]
		}
	case opBXor:
		for i := range acc {
			acc[i] ^= in[i]
		}
	case opLAnd:
		for i := range acc {
			acc[i] = one[T](acc[i] != 0 && in[i] != 0)
		}
	case opLOr:
		for i := range acc {
			acc[i] = one[T](acc[i] != 0 || in[i] != 0)
		}
	case opLXor:
		for i := range acc {
			acc[i] = one[T]((acc[i] != 0) != (in[i] != 0))
		}
	default:
		reals(code, acc, in)
	}
}

func one[T Integer](b bool) T {
	if b {
		return 1
	}
	return 0
}

func reals[T Real](code opCode, acc, in []T) {
	in = in[:len(acc)]
	switch code {
	case opMax:
		for i := range acc {
			acc[i] = max(acc[i], in[i])
		}
	case opMin:
		for i := range acc {
			acc[i] = min(acc[i], in[i])
		}
	default:
		numbers(code, acc, in)
	}
}

func numbers[T Number](code opCode, acc, in []T) {
	in = in[:len(acc)]
	switch code {
	case opSum:
		for i := range acc {
			acc[i] += in[i]
		}
	case opProd:
		for i := range acc {
			acc[i] *= in[i]
		}
	}
}

func bools(code opCode, acc, in []bool) {
	in = in[:len(acc)]
	switch code {
	case opLAnd:
		for i := range acc {
			acc[i] = acc[i] && in[i]
		}
	case opLOr:
		for i := range acc {
			acc[i] = acc[i] || in[i]
		}
	case opLXor:
		for i := range acc {
			acc[i] = acc[i] != in[i]
		}
	}
}
