package codec

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blob and words are types that gob takes for []byte and []float64.
type (
	blob  []byte
	words string
)

// TestPlainValues: bytes, texts and numbers use no gob and arrive unchanged, also in named
// types, and from them.
func TestPlainValues(t *testing.T) {
	both := func(in, out, want any) {
		data, err := Encode(Gob, in)
		require.NoError(t, err)
		require.NoError(t, Decode(Gob, data, out))
		assert.Equal(t, want, out)
	}
	both(&[]byte{1, 2}, new([]byte), &[]byte{1, 2})
	both(&[]byte{1, 2}, new(blob), &blob{1, 2})
	both(&blob{1, 2}, new([]byte), &[]byte{1, 2})
	both(&[]byte{}, new([]byte), &[]byte{})
	both(new("a"), new(string), new("a"))
	both(new("a"), new(words), new(words("a")))
	both(new(""), new(string), new(""))
	both(&[]float64{1, math.Inf(-1)}, new([]float64), &[]float64{1, math.Inf(-1)})
	data, err := Encode(Gob, &[]byte{1, 2})
	require.NoError(t, err)
	assert.Len(t, data, 3)
	require.ErrorIs(t, Decode(Gob, data, new(string)), ErrCodec)
	require.ErrorIs(t, Decode(Gob, data, new(int)), ErrCodec)
	require.ErrorIs(t, Decode(Gob, nil, new(int)), ErrCodec)
	require.ErrorIs(t, Decode(Gob, []byte{floats, 1}, new([]float64)), ErrCodec)
	require.ErrorIs(t, Decode(Gob, []byte{9}, new(int)), ErrCodec)
}
