package gridrpc

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

// TestPlainValues: bytes, texts and numbers go without gob and come as they were, also into named
// types, and from them.
func TestPlainValues(t *testing.T) {
	both := func(in, out, want any) {
		data, err := encode(Gob, in)
		require.NoError(t, err)
		require.NoError(t, decode(Gob, data, out))
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
	data, err := encode(Gob, &[]byte{1, 2})
	require.NoError(t, err)
	assert.Len(t, data, 3)
	require.ErrorIs(t, decode(Gob, data, new(string)), ErrCodec)
	require.ErrorIs(t, decode(Gob, data, new(int)), ErrCodec)
	require.ErrorIs(t, decode(Gob, nil, new(int)), ErrCodec)
	require.ErrorIs(t, decode(Gob, []byte{floats, 1}, new([]float64)), ErrCodec)
	require.ErrorIs(t, decode(Gob, []byte{9}, new(int)), ErrCodec)
}

// TestWaitIsOwn: who waits twice for a call gets two values.
func TestWaitIsOwn(t *testing.T) {
	data, err := encode(Gob, &[]byte{1})
	require.NoError(t, err)
	done := make(chan struct{})
	close(done)
	s := &Session[[]byte]{codec: Gob, flight: &flight{done: done, result: data}}
	a, err := s.Wait(t.Context())
	require.NoError(t, err)
	(*a)[0] = 7
	b, err := s.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []byte{1}, *b)
}
