package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestScalarAgrees: for every operation and element, two elements combine as slices of them do.
func TestScalarAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	special := []uint64{0, 1, math.MaxUint64, 1 << 62, 0x7f, 0x80, 0x8000, 0x80000000, math.Float64bits(math.NaN()), 1 << 63, uint64(math.Float32bits(1.5)), math.Float64bits(-2.25)}
	tried := 0
	for op := Sum; op <= LXor; op++ {
		for e := Int8; e <= Bool; e++ {
			loop, scalar := Find(op, e), Scalar(op, e)
			assert.Equal(t, loop != nil && e.Bytes() <= 8, scalar != nil, "%v of %v", op, e)
			if scalar == nil {
				continue
			}
			for i := range 400 {
				a, b := rng.Uint64(), rng.Uint64()
				if i < len(special)*len(special) {
					a, b = special[i/len(special)], special[i%len(special)]
				}
				a, b = clip(a, e), clip(b, e)
				var acc, in, want [8]byte
				binary.NativeEndian.PutUint64(acc[:], a)
				binary.NativeEndian.PutUint64(in[:], b)
				n := e.Bytes()
				loop(want[:n], acc[:n], in[:n])
				got := clip(scalar(a, b), e)
				if !sameNumber(got, binary.NativeEndian.Uint64(want[:]), e) {
					t.Errorf("%v of %v: %#x, %#x: %#x, want %#x", op, e, a, b, got, binary.NativeEndian.Uint64(want[:]))
				}
				assert.Equal(t, got, scalar(a, b), "%v of %v: bits above the element", op, e)
				tried++
			}
		}
	}
	assert.Greater(t, tried, 20000)
	assert.Nil(t, Scalar(0, Int8))
	assert.Nil(t, Scalar(Sum, Bool+1))
}

func clip(v uint64, e Elem) uint64 {
	if e == Bool {
		return v & 1
	}
	if n := e.Bytes(); n < 8 {
		v &= 1<<(8*n) - 1
	}
	return v
}

// sameNumber compares bits, and NaNs as NaNs.
func sameNumber(a, b uint64, e Elem) bool {
	nan := func(v uint64) bool {
		switch e {
		case Float32:
			return math.IsNaN(float64(float32Of(v)))
		case Float64:
			return math.IsNaN(math.Float64frombits(v))
		}
		return false
	}
	if e == Complex64 {
		return sameNumber(a&math.MaxUint32, b&math.MaxUint32, Float32) && sameNumber(a>>32, b>>32, Float32)
	}
	return a == b || nan(a) && nan(b)
}
