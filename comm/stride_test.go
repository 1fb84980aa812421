package comm_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
)

// TestPackIsTheDefinition: each pattern of few elements, compared with the definition in the
// comment; Unpack restores all of them, and changes no other element.
func TestPackIsTheDefinition(t *testing.T) {
	src := make([]int32, 40)
	for i := range src {
		src[i] = int32(i)
	}
	patterns := 0
	for count := range 5 {
		for length := range 5 {
			for step := range 8 {
				s := comm.Stride{Count: count, Length: length, Step: step}
				want := []int32{}
				places := map[int32]bool{}
				for b := range count {
					for e := range length {
						want = append(want, src[b*step+e])
						places[src[b*step+e]] = true
					}
				}
				dst := make([]int32, 20)
				n, err := comm.Pack(dst, src, s)
				require.NoError(t, err, "%+v", s)
				require.Equal(t, len(want), n, "%+v", s)
				require.Equal(t, s.Elems(), n, "%+v", s)
				require.Equal(t, want, dst[:n], "%+v", s)
				require.Equal(t, make([]int32, 20-n), dst[n:], "%+v", s)

				back := make([]int32, 40)
				for i := range back {
					back[i] = -1
				}
				n, err = comm.Unpack(back, dst, s)
				if count > 1 && step < length {
					require.ErrorIs(t, err, comm.ErrArgument, "%+v", s)
					continue
				}
				require.NoError(t, err, "%+v", s)
				require.Equal(t, len(want), n)
				for i, v := range back {
					if places[int32(i)] {
						require.Equal(t, int32(i), v, "%+v", s)
					} else {
						require.Equal(t, int32(-1), v, "%+v", s)
					}
				}
				patterns++
			}
		}
	}
	require.Greater(t, patterns, 100)
}

// TestPackArguments: a wrong argument is an error, and nothing is copied.
func TestPackArguments(t *testing.T) {
	for _, c := range []struct {
		name           string
		s              comm.Stride
		packed, spread int
		class          error
	}{
		{"negative count", comm.Stride{Count: -1, Length: 1, Step: 1}, 9, 9, comm.ErrArgument},
		{"negative length", comm.Stride{Count: 1, Length: -1, Step: 1}, 9, 9, comm.ErrArgument},
		{"negative step", comm.Stride{Count: 2, Length: 1, Step: -1}, 9, 9, comm.ErrArgument},
		{"one element too few", comm.Stride{Count: 3, Length: 2, Step: 4}, 9, 9, comm.ErrLength},
		{"no room", comm.Stride{Count: 3, Length: 2, Step: 4}, 5, 10, comm.ErrLength},
		{"too many", comm.Stride{Count: math.MaxInt/2 + 1, Length: 2, Step: 2}, 9, 9, comm.ErrLength},
		{"too many, 0 modulo 2^64", comm.Stride{Count: 1 << 62, Length: 4, Step: 4}, 9, 9, comm.ErrLength},
		{"too far", comm.Stride{Count: 3, Length: 1, Step: math.MaxInt}, 9, 9, comm.ErrLength},
		{"just too far", comm.Stride{Count: 2, Length: 2, Step: math.MaxInt}, 9, 9, comm.ErrLength},
	} {
		packed, spread := make([]uint8, c.packed), make([]uint8, c.spread)
		for i := range spread {
			spread[i] = 1
		}
		n, err := comm.Pack(packed, spread, c.s)
		assert.ErrorIs(t, err, c.class, c.name)
		assert.Zero(t, n, c.name)
		assert.Equal(t, make([]uint8, c.packed), packed, c.name)
		n, err = comm.Unpack(spread, packed, c.s)
		assert.ErrorIs(t, err, c.class, c.name)
		assert.Zero(t, n, c.name)
	}
	a := make([]string, 10)
	_, err := comm.Pack(a[3:5], a, comm.Stride{Count: 2, Length: 1, Step: 2})
	assert.ErrorIs(t, err, comm.ErrBuffer)
	_, err = comm.Unpack(a, a[3:5], comm.Stride{Count: 2, Length: 1, Step: 2})
	assert.ErrorIs(t, err, comm.ErrBuffer)
	n, err := comm.Pack[string](nil, nil, comm.Stride{})
	assert.NoError(t, err)
	assert.Zero(t, n)
}

// A column of a matrix that is stored by rows is copied into another matrix.
func ExamplePack() {
	const rows, cols = 3, 4
	m := []int{
		0, 1, 2, 3,
		10, 11, 12, 13,
		20, 21, 22, 23,
	}
	column := comm.Stride{Count: rows, Length: 1, Step: cols}
	buf := make([]int, column.Elems())
	n, err := comm.Pack(buf, m[2:], column)
	fmt.Println(buf[:n], err)

	n, err = comm.Unpack(m, buf, column) // over the first one
	fmt.Println(m, n, err)
	// Output:
	// [2 12 22] <nil>
	// [2 1 2 3 12 11 12 13 22 21 22 23] 3 <nil>
}

func BenchmarkPack(b *testing.B) {
	const n = 512
	m, buf := make([]float64, n*n), make([]float64, n*n)
	for name, s := range map[string]comm.Stride{
		"column":    {Count: n, Length: 1, Step: n},
		"4 columns": {Count: n, Length: 4, Step: n},
		"half":      {Count: n, Length: n / 2, Step: n},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(8 * s.Elems()))
			for b.Loop() {
				if _, err := comm.Pack(buf, m, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
