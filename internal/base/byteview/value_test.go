package byteview

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func roundTrip[T, U any](t *testing.T, v T) (got U, code uint8, err error) {
	t.Helper()
	b, code, err := EncodeValue(&v)
	require.NoError(t, err)
	err = DecodeValue(b, code, &got)
	return got, code, err
}

func same[T any](t *testing.T, v T, code int) {
	t.Helper()
	got, c, err := roundTrip[T, T](t, v)
	require.NoError(t, err)
	assert.Equal(t, v, got)
	assert.Equal(t, uint8(code), c)
	assert.True(t, IsValue(c))
}

type (
	vector []float64
	degree float64
)

func TestValues(t *testing.T) {
	same(t, []float64{1, math.Inf(1), -0.5}, NumbersValue+14)
	same(t, []int8{-1, 2, 3}, NumbersValue+3)
	same(t, []bool{true, false}, NumbersValue+1)
	same(t, []byte{7}, NumbersValue+8)
	same(t, []complex128{1i}, NumbersValue+16)
	none, code, err := roundTrip[[]int, []int](t, []int{})
	require.NoError(t, err)
	assert.Empty(t, none)
	assert.Equal(t, uint8(GobValue), code, "gob decodes nil")
	same(t, 3, GobValue)
	same(t, map[string][]int{"a": {1}}, GobValue)
	same(t, vector{1, 2}, GobValue) // a named type may encode its values by methods
	same(t, []degree{1, 2}, GobValue)
	same(t, [][]int{{1}, nil}, GobValue)
}

// TestValuesOfAnotherType decodes slices of numbers into other types: gob converts or refuses them.
func TestValuesOfAnotherType(t *testing.T) {
	wide, _, err := roundTrip[[]int32, []int64](t, []int32{-1, 5})
	require.NoError(t, err)
	assert.Equal(t, []int64{-1, 5}, wide)
	named, _, err := roundTrip[[]float64, vector](t, []float64{1, 2})
	require.NoError(t, err)
	assert.Equal(t, vector{1, 2}, named)
	_, _, err = roundTrip[[]float64, []int](t, []float64{1})
	assert.ErrorContains(t, err, "received remote type")
	_, _, err = roundTrip[[]int64, []int8](t, []int64{1000})
	assert.Error(t, err, "1000 does not fit")
	_, _, err = roundTrip[[]int, string](t, []int{1})
	assert.Error(t, err)
}

func TestDamagedValues(t *testing.T) {
	var v []float64
	assert.Error(t, DecodeValue(make([]byte, 12), NumbersValue+14, &v))
	assert.Error(t, DecodeValue(nil, NumbersValue+14, &v))
	assert.Error(t, DecodeValue(make([]byte, 8), 14, &v), "a message of float64 is no value")
	assert.Error(t, DecodeValue(nil, NumbersValue, &v))
	buf := make([]byte, 17)
	require.NoError(t, DecodeValue(buf[1:], NumbersValue+14, &v), "at an odd address")
	assert.Len(t, v, 2)
}
