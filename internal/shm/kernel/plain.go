package kernel

import "encoding/binary"

// plain are the loops in Go. In two's complement the sign of an integer matters to
// Max and Min alone; otherwise signed and unsigned elements share a loop.
var plain = table{
	Sum: {
		Int8: sum[uint8], Int16: sum[uint16], Int32: sum[uint32], Int64: sum[uint64],
		Uint8: sum[uint8], Uint16: sum[uint16], Uint32: sum[uint32], Uint64: sum[uint64],
		Float32: sum[float32], Float64: sum[float64], Complex64: sum[float32], Complex128: sum[float64],
	},
	Prod: {
		Int8: prod[uint8], Int16: prod[uint16], Int32: prod[uint32], Int64: prod[uint64],
		Uint8: prod[uint8], Uint16: prod[uint16], Uint32: prod[uint32], Uint64: prod[uint64],
		Float32: prod[float32], Float64: prod[float64], Complex64: prodComplex64, Complex128: prodComplex128,
	},
	Max: {
		Int8: maximum[int8], Int16: maximum[int16], Int32: maximum[int32], Int64: maximum[int64],
		Uint8: maximum[uint8], Uint16: maximum[uint16], Uint32: maximum[uint32], Uint64: maximum[uint64],
		Float32: maximum[float32], Float64: maximum[float64],
	},
	Min: {
		Int8: minimum[int8], Int16: minimum[int16], Int32: minimum[int32], Int64: minimum[int64],
		Uint8: minimum[uint8], Uint16: minimum[uint16], Uint32: minimum[uint32], Uint64: minimum[uint64],
		Float32: minimum[float32], Float64: minimum[float64],
	},
	BAnd: {Int8: and, Int16: and, Int32: and, Int64: and, Uint8: and, Uint16: and, Uint32: and, Uint64: and},
	BOr:  {Int8: or, Int16: or, Int32: or, Int64: or, Uint8: or, Uint16: or, Uint32: or, Uint64: or},
	BXor: {Int8: xor, Int16: xor, Int32: xor, Int64: xor, Uint8: xor, Uint16: xor, Uint32: xor, Uint64: xor},
	LAnd: {
		Int8: both[uint8], Int16: both[uint16], Int32: both[uint32], Int64: both[uint64],
		Uint8: both[uint8], Uint16: both[uint16], Uint32: both[uint32], Uint64: both[uint64], Bool: both[uint8],
	},
	LOr: {
		Int8: either[uint8], Int16: either[uint16], Int32: either[uint32], Int64: either[uint64],
		Uint8: either[uint8], Uint16: either[uint16], Uint32: either[uint32], Uint64: either[uint64], Bool: either[uint8],
	},
	LXor: {
		Int8: odd[uint8], Int16: odd[uint16], Int32: odd[uint32], Int64: odd[uint64],
		Uint8: odd[uint8], Uint16: odd[uint16], Uint32: odd[uint32], Uint64: odd[uint64], Bool: odd[uint8],
	},
}

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

type number interface {
	unsigned | float32 | float64
}

type ordered interface {
	unsigned | int8 | int16 | int32 | int64 | float32 | float64
}

func sum[T number](dst, acc, in []byte) {
	d, a, b, ok := triple[T](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, func(x, y T) T { return x + y })
		return
	}
	for len(d) >= 8 && len(a) >= 8 && len(b) >= 8 {
		d[0] = a[0] + b[0]
		d[1] = a[1] + b[1]
		d[2] = a[2] + b[2]
		d[3] = a[3] + b[3]
		d[4] = a[4] + b[4]
		d[5] = a[5] + b[5]
		d[6] = a[6] + b[6]
		d[7] = a[7] + b[7]
		d, a, b = d[8:], a[8:], b[8:]
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func prod[T number](dst, acc, in []byte) {
	d, a, b, ok := triple[T](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, func(x, y T) T { return x * y })
		return
	}
	for len(d) >= 4 && len(a) >= 4 && len(b) >= 4 {
		d[0] = a[0] * b[0]
		d[1] = a[1] * b[1]
		d[2] = a[2] * b[2]
		d[3] = a[3] * b[3]
		d, a, b = d[4:], a[4:], b[4:]
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func prodComplex64(dst, acc, in []byte) {
	d, a, b, ok := triple[complex64](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, product64)
		return
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = product64(a[i], b[i])
	}
}

func prodComplex128(dst, acc, in []byte) {
	d, a, b, ok := triple[complex128](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, product128)
		return
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = product128(a[i], b[i])
	}
}

// product64 rounds each product: without the conversions a compiler may fuse one of two with their
// sum, and a different one in each loop.
func product64(x, y complex64) complex64 {
	return complex(float32(real(x)*real(y))-float32(imag(x)*imag(y)), float32(real(x)*imag(y))+float32(imag(x)*real(y)))
}

// product128 is product64 for complex128.
func product128(x, y complex128) complex128 {
	return complex(float64(real(x)*real(y))-float64(imag(x)*imag(y)), float64(real(x)*imag(y))+float64(imag(x)*real(y)))
}

func maximum[T ordered](dst, acc, in []byte) {
	d, a, b, ok := triple[T](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, func(x, y T) T { return max(x, y) })
		return
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func minimum[T ordered](dst, acc, in []byte) {
	d, a, b, ok := triple[T](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, func(x, y T) T { return min(x, y) })
		return
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

func both[T unsigned](dst, acc, in []byte) {
	d, a, b, ok := triple[T](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, func(x, y T) T { return truth(x) & truth(y) })
		return
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = truth(a[i]) & truth(b[i])
	}
}

func either[T unsigned](dst, acc, in []byte) {
	d, a, b, ok := triple[T](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, func(x, y T) T { return truth(x | y) })
		return
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = truth(a[i] | b[i])
	}
}

func odd[T unsigned](dst, acc, in []byte) {
	d, a, b, ok := triple[T](dst, acc, in)
	if !ok {
		oneByOne(dst, acc, in, func(x, y T) T { return truth(x) ^ truth(y) })
		return
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = truth(a[i]) ^ truth(b[i])
	}
}

// truth compiles to a comparison without a branch.
func truth[T unsigned](x T) T {
	if x != 0 {
		return 1
	}
	return 0
}

// Bitwise operations see words, whatever the element and its alignment:
// NativeEndian is one load or store where the processor allows it.
var word = binary.NativeEndian

func and(dst, acc, in []byte) {
	equal(dst, acc, in)
	for len(dst) >= 32 && len(acc) >= 32 && len(in) >= 32 {
		word.PutUint64(dst, word.Uint64(acc)&word.Uint64(in))
		word.PutUint64(dst[8:], word.Uint64(acc[8:])&word.Uint64(in[8:]))
		word.PutUint64(dst[16:], word.Uint64(acc[16:])&word.Uint64(in[16:]))
		word.PutUint64(dst[24:], word.Uint64(acc[24:])&word.Uint64(in[24:]))
		dst, acc, in = dst[32:], acc[32:], in[32:]
	}
	for len(dst) >= 8 && len(acc) >= 8 && len(in) >= 8 {
		word.PutUint64(dst, word.Uint64(acc)&word.Uint64(in))
		dst, acc, in = dst[8:], acc[8:], in[8:]
	}
	for i := range dst {
		dst[i] = acc[i] & in[i]
	}
}

func or(dst, acc, in []byte) {
	equal(dst, acc, in)
	for len(dst) >= 32 && len(acc) >= 32 && len(in) >= 32 {
		word.PutUint64(dst, word.Uint64(acc)|word.Uint64(in))
		word.PutUint64(dst[8:], word.Uint64(acc[8:])|word.Uint64(in[8:]))
		word.PutUint64(dst[16:], word.Uint64(acc[16:])|word.Uint64(in[16:]))
		word.PutUint64(dst[24:], word.Uint64(acc[24:])|word.Uint64(in[24:]))
		dst, acc, in = dst[32:], acc[32:], in[32:]
	}
	for len(dst) >= 8 && len(acc) >= 8 && len(in) >= 8 {
		word.PutUint64(dst, word.Uint64(acc)|word.Uint64(in))
		dst, acc, in = dst[8:], acc[8:], in[8:]
	}
	for i := range dst {
		dst[i] = acc[i] | in[i]
	}
}

func xor(dst, acc, in []byte) {
	equal(dst, acc, in)
	for len(dst) >= 32 && len(acc) >= 32 && len(in) >= 32 {
		word.PutUint64(dst, word.Uint64(acc)^word.Uint64(in))
		word.PutUint64(dst[8:], word.Uint64(acc[8:])^word.Uint64(in[8:]))
		word.PutUint64(dst[16:], word.Uint64(acc[16:])^word.Uint64(in[16:]))
		word.PutUint64(dst[24:], word.Uint64(acc[24:])^word.Uint64(in[24:]))
		dst, acc, in = dst[32:], acc[32:], in[32:]
	}
	for len(dst) >= 8 && len(acc) >= 8 && len(in) >= 8 {
		word.PutUint64(dst, word.Uint64(acc)^word.Uint64(in))
		dst, acc, in = dst[8:], acc[8:], in[8:]
	}
	for i := range dst {
		dst[i] = acc[i] ^ in[i]
	}
}
