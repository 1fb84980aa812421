package comm

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/byteview"
)

// A Stride is a pattern of elements in a slice, starting at its first element: Count blocks of
// Length elements each. The starts of neighbouring blocks are Step elements apart. In a matrix of
// rows and cols that is stored by rows
//
//	m[j:], Stride{Count: rows, Length: 1, Step: cols}         is column j,
//	m[i*cols+j:], Stride{Count: h, Length: w, Step: cols}     a part of h rows and w columns,
//
// which MPI calls a vector type (MPI 5.1.2). Faces of a cube are packed plane by plane.
type Stride struct {
	Count  int // blocks
	Length int // elements of a block
	Step   int // elements from the beginning of a block to the beginning of the next block
}

// Elems returns how many elements the pattern has: Count times Length.
func (s Stride) Elems() int { return s.Count * s.Length }

// extent returns the length of the shortest slice that holds the pattern.
func (s Stride) extent() int {
	if s.Elems() == 0 {
		return 0
	}
	return (s.Count-1)*s.Step + s.Length
}

// Pack copies the elements of src that s selects into dst, one behind the other, and returns their
// number n: a message of them is dst[:n]. Blocks may overlap. With an error nothing is copied.
// Errors: ErrArgument for a number below 0; ErrLength if src does not hold the pattern, or dst is
// shorter than the number of elements; ErrBuffer if dst and src share memory. MPI 5.2.
func Pack[T any](dst, src []T, s Stride) (n int, err error) {
	if err := s.check("pack", byteview.Bytes(dst), byteview.Bytes(src), len(dst), len(src)); err != nil {
		return 0, err
	}
	n = s.Elems()
	dst = dst[:n]
	switch {
	case s.Length == s.Step || s.Count == 1:
		copy(dst, src)
	case s.Length == 1:
		at := 0
		for i := range dst {
			dst[i] = src[at]
			at += s.Step
		}
	default:
		for at := 0; len(dst) > 0; at += s.Step {
			dst = dst[copy(dst[:s.Length], src[at:]):]
		}
	}
	return n, nil
}

// Unpack is the inverse of Pack: it copies the first elements of src to the places in dst that s
// selects, leaves the others as they are, and returns the number of copied elements. Errors as of
// Pack, and ErrArgument for blocks that overlap.
func Unpack[T any](dst, src []T, s Stride) (n int, err error) {
	const op = "unpack"
	if err := s.check(op, byteview.Bytes(src), byteview.Bytes(dst), len(src), len(dst)); err != nil {
		return 0, err
	}
	if s.Count > 1 && s.Step < s.Length {
		return 0, fail(op, nil, nil, fmt.Errorf("%w: blocks of %d elements overlap, which begin %d apart", ErrArgument, s.Length, s.Step))
	}
	n = s.Elems()
	src = src[:n]
	switch {
	case s.Length == s.Step || s.Count == 1:
		copy(dst, src)
	case s.Length == 1:
		at := 0
		for i := range src {
			dst[at] = src[i]
			at += s.Step
		}
	default:
		for at := 0; len(src) > 0; at += s.Step {
			src = src[copy(dst[at:], src[:s.Length]):]
		}
	}
	return n, nil
}

// check returns the error of a copy between a packed slice and a slice that holds the pattern: the
// memory of both, and their lengths in elements.
func (s Stride) check(op string, packed, spread []byte, packedLen, spreadLen int) error {
	var err error
	switch {
	case s.Count < 0 || s.Length < 0 || s.Step < 0:
		err = fmt.Errorf("%w: %+v: no number may be below 0", ErrArgument, s)
	case s.overflows() || s.extent() > spreadLen:
		err = fmt.Errorf("%w: %+v takes more than a slice of %d elements", ErrLength, s, spreadLen)
	case s.Elems() > packedLen:
		err = fmt.Errorf("%w: %+v has %d elements, the slice for them %d", ErrLength, s, s.Elems(), packedLen)
	case byteview.Overlap(packed, spread):
		err = fmt.Errorf("%w: both slices share memory", ErrBuffer)
	}
	return fail(op, nil, nil, err)
}

// overflows reports whether Elems or extent overflow an int.
func (s Stride) overflows() bool {
	elems := s.Count * s.Length
	if s.Count > 0 && elems/s.Count != s.Length {
		return true
	}
	if s.Count < 2 || s.Length == 0 {
		return false
	}
	span := (s.Count - 1) * s.Step
	return span/(s.Count-1) != s.Step || span+s.Length < 0
}
