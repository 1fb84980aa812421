// Package byteview returns the memory of slices of numbers and records as bytes. Besides the shared
// memory packages, only this package casts memory.
package byteview

import (
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"runtime"
	"sync"
	"unsafe"
)

// Bytes returns the memory of s. T must hold no pointer (see Fixed).
func Bytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// Size returns the bytes of one T.
func Size[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// Align returns the alignment of a T in bytes.
func Align[T any]() int {
	var zero T
	return int(unsafe.Alignof(zero))
}

// firstRecord is the first code of types other than numbers and bools. records is the number of
// such codes: 255 is not one of them (GobValue).
const (
	firstRecord = 128
	records     = 255 - firstRecord
)

// Code returns the 8-bit code that a message has for its type of elements. For a number or a bool,
// also of a named type, the code is the reflect.Kind. Other types that Fixed accepts have a number
// from 128 to 254 that depends on their layout and the processor's architecture, so that two
// layouts nearly always have different codes. 0: elements of the type cannot be sent.
func Code[T any]() uint8 {
	var kind reflect.Kind
	switch any((*T)(nil)).(type) { // faster than reflect
	case *bool:
		kind = reflect.Bool
	case *int:
		kind = reflect.Int
	case *int8:
		kind = reflect.Int8
	case *int16:
		kind = reflect.Int16
	case *int32:
		kind = reflect.Int32
	case *int64:
		kind = reflect.Int64
	case *uint:
		kind = reflect.Uint
	case *uint8:
		kind = reflect.Uint8
	case *uint16:
		kind = reflect.Uint16
	case *uint32:
		kind = reflect.Uint32
	case *uint64:
		kind = reflect.Uint64
	case *float32:
		kind = reflect.Float32
	case *float64:
		kind = reflect.Float64
	case *complex64:
		kind = reflect.Complex64
	case *complex128:
		kind = reflect.Complex128
	default: // a named type, or a record
		return codeOf(reflect.TypeFor[T]())
	}
	return uint8(kind)
}

func codeOf(t reflect.Type) uint8 {
	if basic(t.Kind()) {
		return uint8(t.Kind())
	}
	if known, ok := recordCodes.Load(t); ok {
		return known.(uint8)
	}
	code := uint8(0)
	if Fixed(t) && t.Size() > 0 {
		h := fnv.New64a()
		_, _ = io.WriteString(h, runtime.GOARCH+layout(t))
		code = firstRecord + uint8(h.Sum64()%records)
	}
	recordCodes.Store(t, code)
	return code
}

// recordCodes caches the codes of types other than numbers and bools, by reflect.Type.
var recordCodes sync.Map

// layout describes the offsets and the kinds of the numbers in a record. Their names do not matter.
func layout(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layout(t.Elem()))
	case reflect.Struct:
		s := fmt.Sprintf("{%d", t.Size())
		for i := range t.NumField() {
			s += fmt.Sprintf(",%d:%s", t.Field(i).Offset, layout(t.Field(i).Type))
		}
		return s + "}"
	}
	return t.Kind().String()
}

// CodeName returns the meaning of a code, for error texts.
func CodeName(code uint8) string {
	switch {
	case IsValue(code):
		return "a value"
	case code >= firstRecord:
		return fmt.Sprintf("records of layout %d", code)
	case basic(reflect.Kind(code)):
		return reflect.Kind(code).String()
	}
	return fmt.Sprintf("element type %d", code)
}

// ElemBytes returns the bytes of an element of a code. 0: unknown, because this process has not
// sent or received records of that code.
func ElemBytes(code uint8) (bytes int) {
	if code < uint8(len(numbers)) {
		return numbers[code]
	}
	recordCodes.Range(func(t, of any) bool {
		if of == code {
			bytes = int(t.(reflect.Type).Size())
		}
		return bytes == 0
	})
	return bytes
}

// numbers are the bytes of numbers and bools, by reflect.Kind.
var numbers = [...]int{
	reflect.Bool: 1, reflect.Int: Size[int](), reflect.Int8: 1, reflect.Int16: 2, reflect.Int32: 4, reflect.Int64: 8,
	reflect.Uint: Size[uint](), reflect.Uint8: 1, reflect.Uint16: 2, reflect.Uint32: 4, reflect.Uint64: 8,
	reflect.Float32: 4, reflect.Float64: 8, reflect.Complex64: 8, reflect.Complex128: 16,
}

// Fixed reports whether values of a type have one size and hold no pointer, so that their memory
// means the same in another process of this machine.
func Fixed(t reflect.Type) bool { return Obstacle(t) == "" }

// Obstacle returns the part of a type that is not Fixed, such as ".Name is a string"; empty for a
// Fixed type.
func Obstacle(t reflect.Type) string {
	switch {
	case basic(t.Kind()):
		return ""
	case t.Kind() == reflect.Array:
		if inner := Obstacle(t.Elem()); inner != "" {
			return "[]" + inner
		}
		return ""
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if inner := Obstacle(t.Field(i).Type); inner != "" {
				return "." + t.Field(i).Name + inner
			}
		}
		return ""
	}
	return fmt.Sprintf(" is a %v", t)
}

// basic reports whether values of a kind are numbers or bools of a known size.
func basic(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
}

// As returns the memory of s as elements of another type, for example a named type as its
// underlying type. The sizes must be equal.
func As[U, T any](s []T) []U {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// Of returns memory as elements. b must begin at the alignment of an element and hold whole
// elements, as memory from Bytes does, and parts of such memory.
func Of[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/Size[T]())
}

// Overlap reports whether two slices have memory in common.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}
