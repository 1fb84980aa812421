package byteview

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
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

// TestCode: the fast cases return the same kinds as reflect, also for named types.
func TestCode(t *testing.T) {
	type celsius float64
	type flag bool
	for _, c := range []struct {
		code uint8
		of   any
	}{
		{Code[bool](), false}, {Code[flag](), flag(false)},
		{Code[int](), int(0)}, {Code[int8](), int8(0)}, {Code[int16](), int16(0)}, {Code[int32](), int32(0)}, {Code[int64](), int64(0)},
		{Code[uint](), uint(0)}, {Code[uint8](), uint8(0)}, {Code[uint16](), uint16(0)}, {Code[uint32](), uint32(0)}, {Code[uint64](), uint64(0)},
		{Code[float32](), float32(0)}, {Code[float64](), float64(0)}, {Code[celsius](), celsius(0)},
		{Code[complex64](), complex64(0)}, {Code[complex128](), complex128(0)},
	} {
		assert.Equal(t, uint8(reflect.TypeOf(c.of).Kind()), c.code, "%T", c.of)
		assert.Equal(t, reflect.TypeOf(c.of).Kind().String(), CodeName(c.code))
	}
}

func TestCodeOfRecords(t *testing.T) {
	type point struct{ X, Y float64 }
	type place struct{ Lat, Lon float64 }
	type padded struct {
		A int8
		B float64
	}
	all := map[uint8]bool{}
	for _, code := range []uint8{Code[point](), Code[padded](), Code[[2]float64](), Code[[3]float64](), Code[[2]padded](), Code[struct{ A int8 }]()} {
		assert.GreaterOrEqual(t, code, uint8(firstRecord))
		assert.Less(t, code, uint8(255))
		assert.False(t, all[code], "two layouts of code %d", code) // by their hashes: fixed on one architecture
		all[code] = true
	}
	assert.Equal(t, Code[point](), Code[place](), "names do not matter")
	for _, code := range []uint8{Code[string](), Code[*int](), Code[any](), Code[[]int](), Code[struct{ P *int }](), Code[uintptr](), Code[struct{}](), Code[[0]int]()} {
		assert.Zero(t, code)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { Code[point]() }))
}

func TestObstacle(t *testing.T) {
	type inner struct{ Name string }
	assert.Equal(t, ".In[].Name is a string", Obstacle(reflect.TypeFor[struct {
		A  int
		In [2]inner
	}]()))
	assert.Equal(t, " is a []int", Obstacle(reflect.TypeFor[[]int]()))
	assert.Empty(t, Obstacle(reflect.TypeFor[[2]complex64]()))
}

func BenchmarkCode(b *testing.B) {
	b.Run("float64", func(b *testing.B) {
		for b.Loop() {
			sink = Code[float64]()
		}
	})
	b.Run("record", func(b *testing.B) {
		for b.Loop() {
			sink = Code[[2]float64]()
		}
	})
}

var sink uint8
