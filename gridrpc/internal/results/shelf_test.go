package results

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

var call = strings.Repeat("0a", 16)

// TestShelf: the next incarnation finds a stored result until it is removed.
func TestShelf(t *testing.T) {
	root := t.TempDir()
	store := checkpoint.Dir(root)
	until := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	result := bytes.Repeat([]byte("x\n"), 100_000)
	r := Record{Call: call, Attempt: 2, Service: "square", Codec: "gob", Until: until}
	require.NoError(t, New(store, "s1").Put(t.Context(), r, result))
	require.NoError(t, New(store, "s10").Put(t.Context(), r, nil))

	s := New(store, "s1")
	all, err := s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, "square", all[0].Service)
	assert.True(t, until.Equal(all[0].Until))
	assert.EqualValues(t, len(result), all[0].Size)
	got, err := s.Get(t.Context(), call, 2)
	require.NoError(t, err)
	assert.Equal(t, result, got)
	_, err = s.Get(t.Context(), call, 1)
	assert.Error(t, err)
	require.NoError(t, s.Remove(t.Context(), call, 2))
	all, err = s.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
	all, err = New(store, "s10").List(t.Context())
	require.NoError(t, err)
	assert.Len(t, all, 1)
}

// TestEveryChangeIsFound: each changed or missing byte of a stored result is an error.
func TestEveryChangeIsFound(t *testing.T) {
	root := t.TempDir()
	s := New(checkpoint.Dir(root), "s1")
	r := Record{Call: call, Attempt: 1, Service: "x", Codec: "json", Until: time.Unix(1, 0).UTC()}
	require.NoError(t, s.Put(t.Context(), r, []byte("the result")))
	path := filepath.Join(root, "kept", "s1", call+"-1")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 0x55
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		if got, err := s.Get(t.Context(), call, 1); err == nil { // the byte is of a field that only List returns
			require.Equal(t, "the result", string(got), "byte %d", at)
		}
		require.NoError(t, os.WriteFile(path, good[:at], 0o600))
		_, err = s.Get(t.Context(), call, 1)
		require.ErrorIs(t, err, ErrMalformed, "cut at %d", at)
	}
}

// FuzzDecode: bytes are either refused, or are a header that can be written again.
func FuzzDecode(f *testing.F) {
	good, err := json.Marshal(Record{Call: call, Attempt: 1, Size: 3, Sum: strings.Repeat("ab", 32)})
	assert.NoError(f, err)
	f.Add(append(good, "\nabc"...))
	f.Add(good)
	f.Add([]byte("{}\n"))
	f.Add([]byte("{\"Call\":\"" + call + "\",\"Attempt\":0}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, rest, err := Decode(data)
		if err != nil {
			assert.ErrorIs(t, err, ErrMalformed)
			return
		}
		assert.True(t, bytes.HasSuffix(data, rest))
		header, err := json.Marshal(r)
		assert.NoError(t, err)
		again, left, err := Decode(append(header, '\n'))
		if assert.NoError(t, err) {
			assert.Equal(t, r, again)
			assert.Empty(t, left)
		}
	})
}
