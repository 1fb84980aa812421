package view

import (
	"reflect"
	"testing"
)

func TestBytes(t *testing.T) {
	s := []uint32{1, 2}
	b := Bytes(s)
	if len(b) != 8 {
		t.Fatalf("%d bytes", len(b))
	}
	b[0] = 7
	if s[0]&0xff != 7 && s[0]>>24 != 7 {
		t.Error("Bytes copied")
	}
	if Bytes([]float64(nil)) != nil || Size[complex128]() != 16 {
		t.Error("empty slice or size")
	}
}

func TestFixed(t *testing.T) {
	type good struct {
		A [3]int16
		B struct{ C complex64 }
	}
	type bad struct {
		A int
		P *int
	}
	for v, want := range map[any]bool{good{}: true, bad{}: false, "": false, 1.5: true, [2]string{}: false} {
		if got := Fixed(reflect.TypeOf(v)); got != want {
			t.Errorf("Fixed(%T) = %v", v, got)
		}
	}
}

func TestAs(t *testing.T) {
	type celsius float64
	s := []celsius{1, 2}
	As[float64](s)[1] = 3.5
	if s[1] != 3.5 || As[float64]([]celsius{}) != nil {
		t.Error("As does not share the memory, or an empty slice is not nil")
	}
}

func TestOf(t *testing.T) {
	s := []uint32{1, 2, 3}
	Of[uint32](Bytes(s)[4:])[1] = 9
	if s[2] != 9 || len(Of[uint32](Bytes(s))) != 3 || Of[uint32](nil) != nil {
		t.Error("Of does not share the memory, or its length is wrong")
	}
}

func TestOverlap(t *testing.T) {
	b := make([]byte, 8)
	for _, c := range []struct {
		a, b []byte
		want bool
	}{
		{b, b, true}, {b[:4], b[4:], false}, {b[:5], b[4:], true}, {b[4:], b[:5], true}, {b[2:2], b, false}, {nil, b, false},
	} {
		if got := Overlap(c.a, c.b); got != c.want {
			t.Errorf("Overlap of %d and %d bytes: %v", len(c.a), len(c.b), got)
		}
	}
}

// TestKind: what is quicker than reflect says the same, also of named types.
func TestKind(t *testing.T) {
	type celsius float64
	type flag bool
	for _, c := range []struct {
		kind uint8
		of   any
	}{
		{Kind[bool](), false}, {Kind[flag](), flag(false)},
		{Kind[int](), int(0)}, {Kind[int8](), int8(0)}, {Kind[int16](), int16(0)}, {Kind[int32](), int32(0)}, {Kind[int64](), int64(0)},
		{Kind[uint](), uint(0)}, {Kind[uint8](), uint8(0)}, {Kind[uint16](), uint16(0)}, {Kind[uint32](), uint32(0)}, {Kind[uint64](), uint64(0)},
		{Kind[float32](), float32(0)}, {Kind[float64](), float64(0)}, {Kind[celsius](), celsius(0)},
		{Kind[complex64](), complex64(0)}, {Kind[complex128](), complex128(0)},
		{Kind[[2]int](), [2]int{}}, {Kind[struct{ A int8 }](), struct{ A int8 }{}},
	} {
		if want := uint8(reflect.TypeOf(c.of).Kind()); c.kind != want {
			t.Errorf("Kind[%T]() = %d, reflect says %d", c.of, c.kind, want)
		}
	}
}
