package comm

import (
	"fmt"
	"reflect"

	"github.com/goulfm/goulfm/internal/base/byteview"
)

// Elem are the types of message elements: numbers except uintptr, and bools, named ones too, and
// records of them, structs and arrays without pointers. The compiler accepts other types, but a
// call with elements of another type sends and receives nothing; its error Is ErrType and names the
// field that cannot be sent.
//
// Records travel with the layout that they have in memory, padding included. Both ends must have
// the same layout, the same numbers in the same places; names do not matter. Otherwise the receive
// is ErrType. (About 1 of 100 pairs of layouts is not distinguished.)
type Elem interface{ any }

// code identifies an element type on the wire: a receive of another type is refused. 0 marks a type
// that cannot be sent. For the types of the language code is a type switch; the codes of records
// need a table.
func code[T any]() uint8 { return byteview.Code[T]() }

// unsendable is the error of a call with elements that cannot be sent.
func unsendable[T any](op string, c *Comm) error {
	t := reflect.TypeFor[T]()
	why := byteview.Obstacle(t)
	if why == "" {
		return fail(op, c, nil, fmt.Errorf("%w: %v has no bytes", ErrType, t))
	}
	return fail(op, c, nil, fmt.Errorf("%w: elements of %v cannot be sent: %v%s", ErrType, t, t, why))
}

// Bytes returns the memory of s, as bytes that can be sent or written to a file on
// machines of one architecture. The elements must have a fixed size and hold no pointer;
// else the error Is ErrType.
func Bytes[T any](s []T) ([]byte, error) {
	if t := reflect.TypeFor[T](); !byteview.Fixed(t) {
		return nil, fail("bytes", nil, nil, fmt.Errorf("%w: %v holds pointers or has no fixed size", ErrType, t))
	}
	return byteview.Bytes(s), nil
}
