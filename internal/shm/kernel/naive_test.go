package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// naive is the meaning of every pair, one element at a time and with clarity before speed. It
// shares nothing with the loops, not even max and min.
func naive(op Op, e Elem, acc, in []byte) []byte {
	switch e {
	case Int8:
		return fold(acc, in, integer[int8](op))
	case Int16:
		return fold(acc, in, integer[int16](op))
	case Int32:
		return fold(acc, in, integer[int32](op))
	case Int64:
		return fold(acc, in, integer[int64](op))
	case Uint8:
		return fold(acc, in, integer[uint8](op))
	case Uint16:
		return fold(acc, in, integer[uint16](op))
	case Uint32:
		return fold(acc, in, integer[uint32](op))
	case Uint64:
		return fold(acc, in, integer[uint64](op))
	case Float32:
		return fold(acc, in, float[float32](op))
	case Float64:
		return fold(acc, in, float[float64](op))
	case Complex64:
		return fold(acc, in, complexNumber[complex64](op))
	case Complex128:
		return fold(acc, in, complexNumber[complex128](op))
	case Bool:
		// A bool from elsewhere may hold any byte.
		return fold(acc, in, logical[uint8](op))
	}
	return nil
}

// fold returns op of all elements, or nil if there is no op.
func fold[T any](acc, in []byte, op func(x, y T) T) []byte {
	if op == nil {
		return nil
	}
	x, y := decode[T](acc), decode[T](in)
	for i := range x {
		x[i] = op(x[i], y[i])
	}
	out, err := binary.Append(nil, binary.NativeEndian, x)
	if err != nil {
		panic(err)
	}
	return out
}

func decode[T any](b []byte) []T {
	var zero T
	s := make([]T, len(b)/binary.Size(zero))
	if err := binary.Read(bytes.NewReader(b), binary.NativeEndian, s); err != nil && len(s) > 0 {
		panic(err)
	}
	return s
}

type anyInteger interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func integer[T anyInteger](op Op) func(x, y T) T {
	switch op {
	case Sum:
		return func(x, y T) T { return x + y }
	case Prod:
		return func(x, y T) T { return x * y }
	case Max:
		return func(x, y T) T { return pick(x > y, x, y) }
	case Min:
		return func(x, y T) T { return pick(x < y, x, y) }
	case BAnd:
		return func(x, y T) T { return x & y }
	case BOr:
		return func(x, y T) T { return x | y }
	case BXor:
		return func(x, y T) T { return x ^ y }
	}
	return logical[T](op)
}

func logical[T anyInteger](op Op) func(x, y T) T {
	switch op {
	case LAnd:
		return func(x, y T) T { return pick(x != 0 && y != 0, T(1), 0) }
	case LOr:
		return func(x, y T) T { return pick(x != 0 || y != 0, T(1), 0) }
	case LXor:
		return func(x, y T) T { return pick((x != 0) != (y != 0), T(1), 0) }
	}
	return nil
}

func float[T float32 | float64](op Op) func(x, y T) T {
	switch op {
	case Sum:
		return func(x, y T) T { return x + y }
	case Prod:
		return func(x, y T) T { return x * y }
	case Max:
		return larger[T]
	case Min:
		return func(x, y T) T { return -larger(-x, -y) }
	}
	return nil
}

func larger[T float32 | float64](x, y T) T {
	switch {
	case x != x || y != y:
		return T(math.NaN())
	case x == 0 && y == 0:
		return pick(math.Signbit(float64(x)), y, x)
	}
	return pick(x > y, x, y)
}

func complexNumber[T complex64 | complex128](op Op) func(x, y T) T {
	switch op {
	case Sum:
		return func(x, y T) T { return x + y }
	case Prod:
		return func(x, y T) T {
			a, b := any(x), any(y)
			if a, ok := a.(complex64); ok {
				b := b.(complex64)
				re, im := rounded(real(a), real(b), -imag(a), imag(b)), rounded(real(a), imag(b), imag(a), real(b))
				return T(complex(re, im))
			}
			p, q := a.(complex128), b.(complex128)
			re, im := rounded(real(p), real(q), -imag(p), imag(q)), rounded(real(p), imag(q), imag(p), real(q))
			return T(complex(re, im))
		}
	}
	return nil
}

// rounded returns a*b + c*d with each product rounded.
func rounded[F float32 | float64](a, b, c, d F) F {
	return times(a, b) + times(c, d)
}

// times is a separate function, so that the compiler cannot fuse the product with a sum.
//
//go:noinline
func times[F float32 | float64](a, b F) F { return a * b }

func pick[T any](first bool, x, y T) T {
	if first {
		return x
	}
	return y
}

// same compares results: equal bits, or both NaN. It returns the difference.
func same(e Elem, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d bytes, want %d", len(got), len(want))
	}
	size := e.Bytes()
	if e == Complex64 || e == Complex128 {
		size /= 2
	}
	for i := 0; i < len(got); i += size {
		g, w := got[i:i+size], want[i:i+size]
		if !bytes.Equal(g, w) && !(isNaN(e, g) && isNaN(e, w)) {
			return fmt.Errorf("byte %d of %d: got % x, want % x", i, len(got), g, w)
		}
	}
	return nil
}

func isNaN(e Elem, b []byte) bool {
	switch e {
	case Float32, Complex64:
		f := math.Float32frombits(binary.NativeEndian.Uint32(b))
		return f != f
	case Float64, Complex128:
		f := math.Float64frombits(binary.NativeEndian.Uint64(b))
		return f != f
	}
	return false
}
