package comm

import (
	"fmt"
	"reflect"

	"github.com/goulfm/goulfm/internal/view"
)

// Elem are the types of message elements.
type Elem interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128 | ~bool
}

// code names an element type on the wire: a receive of another one is refused.
func code[T any]() uint8 { return view.Kind[T]() }

// Bytes returns the memory of s, so that slices of structs can be sent as bytes
// between processes of one machine. The elements must have a fixed size and hold
// no pointer; else the error Is ErrType.
func Bytes[T any](s []T) ([]byte, error) {
	if t := reflect.TypeFor[T](); !view.Fixed(t) {
		return nil, fail("bytes", nil, nil, fmt.Errorf("%w: %v holds pointers or has no fixed size", ErrType, t))
	}
	return view.Bytes(s), nil
}
