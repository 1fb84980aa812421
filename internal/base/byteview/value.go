package byteview

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"reflect"
	"unsafe"
)

// GobValue is the code of a message that holds one Go value, encoded by gob. NumbersValue plus a
// reflect.Kind is that of a message which holds a slice of that kind as the bytes of its memory.
const (
	GobValue     = 255
	NumbersValue = 64
)

// IsValue reports whether a message with this code holds a Go value.
func IsValue(code uint8) bool { return code == GobValue || isNumbers(code) }

func isNumbers(code uint8) bool {
	return code > NumbersValue && code < firstRecord && basic(reflect.Kind(code-NumbersValue))
}

// EncodeValue returns the bytes of a value and the code of a message with these bytes. For a slice
// of numbers or bools, not empty, the bytes are the memory of the slice: the caller must not change
// the slice before the bytes are sent. Gob encodes all other values.
func EncodeValue[T any](v *T) (b []byte, code uint8, err error) {
	if kind, ok := numbersKind[T](); ok {
		if s := sliceAt(v); s.len > 0 {
			return unsafe.Slice((*byte)(s.data), s.len*numbers[kind]), NumbersValue + uint8(kind), nil
		}
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(v); err != nil {
		return nil, 0, err
	}
	return out.Bytes(), GobValue, nil
}

// DecodeValue stores the value that b holds. The value may keep b: the caller must not use b after
// the call.
func DecodeValue[T any](b []byte, code uint8, v *T) error {
	if code == GobValue {
		return gob.NewDecoder(bytes.NewReader(b)).Decode(v)
	}
	if !isNumbers(code) {
		return fmt.Errorf("%s is no value", CodeName(code))
	}
	kind := reflect.Kind(code - NumbersValue)
	n := len(b) / numbers[kind]
	if n == 0 || n*numbers[kind] != len(b) {
		return fmt.Errorf("%d bytes are no slice of %v", len(b), kind)
	}
	if wanted, ok := numbersKind[T](); ok && wanted == kind {
		*sliceAt(v) = slice{unsafe.Pointer(unsafe.SliceData(aligned(b, numbers[kind]))), n, n}
		return nil
	}
	return convert(b, kind, v)
}

// convert stores numbers in a value of another type as gob would: int32 in []int64, for example.
func convert[T any](b []byte, kind reflect.Kind, v *T) error {
	list := reflect.MakeSlice(reflect.SliceOf(kindTypes[kind]), len(b)/numbers[kind], len(b)/numbers[kind])
	copy(unsafe.Slice((*byte)(list.UnsafePointer()), len(b)), b)
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).EncodeValue(list); err != nil {
		return err
	}
	return gob.NewDecoder(&out).Decode(v)
}

// A slice has the memory layout of a Go slice.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

func sliceAt[T any](v *T) *slice { return (*slice)(unsafe.Pointer(v)) }

// numbersKind returns the kind of the elements of T if T is an unnamed slice of numbers or bools: a
// named type may encode its values by methods.
func numbersKind[T any]() (kind reflect.Kind, ok bool) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Slice || !basic(t.Elem().Kind()) || t.Elem().Name() != t.Elem().Kind().String() || t.Name() != "" {
		return 0, false
	}
	return t.Elem().Kind(), true
}

// aligned returns b, or a copy at a multiple of size.
func aligned(b []byte, size int) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(min(size, 8)) == 0 {
		return b
	}
	words := make([]uint64, (len(b)+7)/8)
	return append(Bytes(words)[:0], b...)
}

var kindTypes = [...]reflect.Type{
	reflect.Bool: reflect.TypeFor[bool](), reflect.Int: reflect.TypeFor[int](), reflect.Int8: reflect.TypeFor[int8](),
	reflect.Int16: reflect.TypeFor[int16](), reflect.Int32: reflect.TypeFor[int32](), reflect.Int64: reflect.TypeFor[int64](),
	reflect.Uint: reflect.TypeFor[uint](), reflect.Uint8: reflect.TypeFor[uint8](), reflect.Uint16: reflect.TypeFor[uint16](),
	reflect.Uint32: reflect.TypeFor[uint32](), reflect.Uint64: reflect.TypeFor[uint64](), reflect.Float32: reflect.TypeFor[float32](),
	reflect.Float64: reflect.TypeFor[float64](), reflect.Complex64: reflect.TypeFor[complex64](), reflect.Complex128: reflect.TypeFor[complex128](),
}
