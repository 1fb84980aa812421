// Package view shows slices of numbers as the bytes that they are made of. With
// the shared memory packages it is the only place that casts memory.
package view

import (
	"reflect"
	"unsafe"
)

// Bytes returns the memory of s. T must hold no pointer: Fixed tells.
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

// Kind returns the reflect.Kind of a T.
func Kind[T any]() uint8 {
	var zero T
	var kind reflect.Kind
	switch any(zero).(type) { // what reflect takes longer to say
	case bool:
		kind = reflect.Bool
	case int:
		kind = reflect.Int
	case int8:
		kind = reflect.Int8
	case int16:
		kind = reflect.Int16
	case int32:
		kind = reflect.Int32
	case int64:
		kind = reflect.Int64
	case uint:
		kind = reflect.Uint
	case uint8:
		kind = reflect.Uint8
	case uint16:
		kind = reflect.Uint16
	case uint32:
		kind = reflect.Uint32
	case uint64:
		kind = reflect.Uint64
	case float32:
		kind = reflect.Float32
	case float64:
		kind = reflect.Float64
	case complex64:
		kind = reflect.Complex64
	case complex128:
		kind = reflect.Complex128
	default: // a named type
		kind = reflect.TypeFor[T]().Kind()
	}
	return uint8(kind)
}

// Fixed says whether values of a type have one size and hold no pointer, so that
// their memory means the same in another process of this machine.
func Fixed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return Fixed(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !Fixed(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// As returns the memory of s as elements of another type of the same size: a
// named type as the type that it is made of. The sizes must be equal.
func As[U, T any](s []T) []U {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// Of returns memory as elements. b must begin where an element may, and hold whole
// ones: memory that Bytes has returned does, and so do parts of it.
func Of[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/Size[T]())
}

// Overlap says whether two slices have memory in common.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}
