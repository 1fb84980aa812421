package kernel

import "unsafe"

// triple returns the bytes as elements, unless one of the slices is not aligned to them: Go allows
// no such slices, and some processors fault.
func triple[T any](dst, acc, in []byte) (d, a, b []T, ok bool) {
	equal(dst, acc, in)
	var zero T
	n, align := len(dst)/int(unsafe.Sizeof(zero)), unsafe.Alignof(zero)
	o, p, q := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(acc)), unsafe.Pointer(unsafe.SliceData(in))
	if (uintptr(o)|uintptr(p)|uintptr(q))&(align-1) != 0 {
		return nil, nil, nil, false
	}
	return unsafe.Slice((*T)(o), n), unsafe.Slice((*T)(p), n), unsafe.Slice((*T)(q), n), true
}

// oneByOne combines slices of any alignment, slowly: each element is copied to an aligned place,
// and back.
func oneByOne[T any](dst, acc, in []byte, op func(x, y T) T) {
	var x, y T
	size := int(unsafe.Sizeof(x))
	xs := unsafe.Slice((*byte)(unsafe.Pointer(&x)), size)
	ys := unsafe.Slice((*byte)(unsafe.Pointer(&y)), size)
	for i := 0; i < len(dst); i += size {
		copy(xs, acc[i:i+size])
		copy(ys, in[i:i+size])
		x = op(x, y)
		copy(dst[i:i+size], xs)
	}
}
