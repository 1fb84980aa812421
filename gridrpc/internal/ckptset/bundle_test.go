package ckptset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

const call = "00ff"

// counting is a store that counts its puts, and fails from put number fail on.
type counting struct {
	checkpoint.Store
	puts int
	fail int
}

var errFull = errors.New("store is full")

func (c *counting) Put(ctx context.Context, key string, size int64, r io.Reader) error {
	c.puts++
	if c.fail > 0 && c.puts >= c.fail {
		return errFull
	}
	return c.Store.Put(ctx, key, size, r)
}

func newStore(t *testing.T) *counting {
	dir := filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.Mkdir(dir, 0o700))
	return &counting{Store: checkpoint.Dir(dir)}
}

func write(t *testing.T, dir, name, text string) {
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
}

func read(t *testing.T, dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}

// newest returns the newest checkpoint of a call that can be restored to dir.
func newest(t *testing.T, s checkpoint.Store, dir string) (ID, map[string][]byte) {
	all, err := List(t.Context(), s, call)
	require.NoError(t, err)
	for _, id := range all {
		m, err := Load(t.Context(), s, id)
		require.NoError(t, err)
		if values, err := m.Restore(t.Context(), s, dir); err == nil {
			return id, values
		}
	}
	return ID{}, nil
}

// TestRestore: a committed checkpoint is restored in another folder.
func TestRestore(t *testing.T) {
	s, from, to := newStore(t), t.TempDir(), t.TempDir()
	long := strings.Repeat("0123456789abcdef", 3*chunkSize/16) + "end"
	write(t, from, "a/long", long)
	write(t, from, "empty", "")
	write(t, to, "old", "what was there before")
	w := NewWriter(s, call, 1)
	m, err := w.Commit(t.Context(), from, []Source{{Name: "a/long", Kind: File}, {Name: "empty", Kind: Script}, {Name: "x", Kind: Value, Data: []byte("7")}})
	require.NoError(t, err)
	assert.Equal(t, ID{call, 1, 1}, m.ID)
	assert.EqualValues(t, len(long)+1, m.Bytes())
	assert.Equal(t, 4, s.puts, "a chunk that comes three times, two others, the manifest")
	id, values := newest(t, s, to)
	assert.Equal(t, m.ID, id)
	assert.Equal(t, map[string][]byte{"x": []byte("7")}, values)
	assert.Equal(t, long, read(t, to, "a/long"))
	assert.Empty(t, read(t, to, "empty"))
	assert.NoFileExists(t, filepath.Join(to, "old"))
	info, err := os.Stat(filepath.Join(to, "a/long"))
	require.NoError(t, err)
	assert.EqualValues(t, 0o640, info.Mode().Perm())
}

// TestUnchangedIsNotSentAgain: unchanged chunks are stored once. The two latest checkpoints stay,
// with their chunks.
func TestUnchangedIsNotSentAgain(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	write(t, dir, "same", "same")
	w := NewWriter(s, call, 1)
	for i := range 5 {
		write(t, dir, "other", strings.Repeat("x", i))
		_, err := w.Commit(t.Context(), dir, []Source{{Name: "same", Kind: File}, {Name: "other", Kind: File}})
		require.NoError(t, err)
	}
	assert.Equal(t, 1+4+5, s.puts)
	items, err := s.List(t.Context(), "")
	require.NoError(t, err)
	assert.Len(t, items, 3+2)
	all, err := List(t.Context(), s, call)
	require.NoError(t, err)
	assert.Equal(t, []ID{{call, 1, 5}, {call, 1, 4}}, all)
	require.NoError(t, Remove(t.Context(), s, call))
	items, err = s.List(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, items)
}

// TestTornIsNotRestored: after any failure of the store, or a lost or damaged chunk, the newest
// complete checkpoint is restored, or none.
func TestTornIsNotRestored(t *testing.T) {
	for fail := 1; fail <= 7; fail++ {
		s, from, to := newStore(t), t.TempDir(), t.TempDir()
		s.fail = fail
		w := NewWriter(s, call, 1)
		good := 0
		for i := range 2 {
			write(t, from, "a", strings.Repeat("a", i+1))
			write(t, from, "b", strings.Repeat("b", i+1))
			_, err := w.Commit(t.Context(), from, []Source{{Name: "a", Kind: File}, {Name: "b", Kind: File}})
			if err == nil {
				good = i + 1
			} else {
				assert.ErrorIs(t, err, errFull)
			}
		}
		assert.Equal(t, min(2, (fail-1)/3), good)
		id, _ := newest(t, s, to)
		assert.Equal(t, good, id.Number)
	}
	for _, damage := range []func(s *counting, key string) error{
		func(s *counting, key string) error { return s.Delete(t.Context(), key) },
		func(s *counting, key string) error { return s.Put(t.Context(), key, 1, strings.NewReader("x")) },
		func(s *counting, key string) error { return s.Put(t.Context(), key, 0, strings.NewReader("")) },
	} {
		s, from, to := newStore(t), t.TempDir(), t.TempDir()
		w := NewWriter(s, call, 1)
		var m Manifest
		for i := range 2 {
			write(t, from, "a", strings.Repeat("a", i+1))
			var err error
			m, err = w.Commit(t.Context(), from, []Source{{Name: "a", Kind: File}})
			require.NoError(t, err)
		}
		require.NoError(t, damage(s, m.chunkKey(m.Pieces[0].Chunks[0])))
		_, err := m.Restore(t.Context(), s, to)
		require.ErrorIs(t, err, ErrTorn)
		entries, err := os.ReadDir(to)
		require.NoError(t, err)
		assert.Empty(t, entries)
		id, _ := newest(t, s, to)
		assert.Equal(t, 1, id.Number)
	}
}

// TestAttemptsAreApart: an attempt that was given up wrongly deletes nothing of the next one.
func TestAttemptsAreApart(t *testing.T) {
	s, from, to := newStore(t), t.TempDir(), t.TempDir()
	write(t, from, "a", "same")
	first, second := NewWriter(s, call, 1), NewWriter(s, call, 2)
	source := []Source{{Name: "a", Kind: File}}
	_, err := second.Commit(t.Context(), from, source)
	require.NoError(t, err)
	for i := range 3 {
		_, err := first.Commit(t.Context(), from, source)
		require.NoError(t, err)
		write(t, from, "a", strings.Repeat("x", i))
	}
	id, _ := newest(t, s, to)
	assert.Equal(t, ID{call, 2, 1}, id)
	assert.Equal(t, "same", read(t, to, "a"))
}

// TestStrangePieces: a piece that could not be restored is refused.
func TestStrangePieces(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	write(t, dir, "a", "a")
	for _, list := range [][]Source{
		{{Name: "../a", Kind: File}}, {{Name: ".", Kind: File}}, {{Name: "none", Kind: File}}, {{Name: "a", Kind: "what"}},
		{{Name: "a", Kind: File}, {Name: "./a", Kind: Script}},
	} {
		_, err := NewWriter(s, call, 1).Commit(t.Context(), dir, list)
		assert.Error(t, err, "%v", list)
	}
	all, err := List(t.Context(), s, "")
	require.NoError(t, err)
	assert.Empty(t, all)
}

// FuzzDecode: bytes are either refused, or are a manifest with all files below the folder.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"Call":"00ff","Attempt":1,"Number":2,"Pieces":[{"Name":"a","Kind":"file","Mode":420,"Size":1,"Chunks":["` + strings.Repeat("0a", 32) + `"]}]}`))
	f.Add([]byte(`{"Call":"00","Attempt":1,"Number":1,"Pieces":[{"Name":"../a","Kind":"file"}]}`))
	f.Add([]byte(`{"Call":"00","Attempt":1,"Number":1,"Pieces":null} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data)
		if err != nil {
			assert.ErrorIs(t, err, ErrMalformed)
			return
		}
		assert.NoError(t, checkpoint.CheckKey(m.Key()))
		for _, p := range m.Pieces {
			assert.True(t, filepath.IsLocal(p.Name))
			for _, c := range p.Chunks {
				assert.NoError(t, checkpoint.CheckKey(m.chunkKey(c)))
			}
		}
	})
}

// FuzzParseKey: a key that is read is written as it was.
func FuzzParseKey(f *testing.F) {
	f.Add("00ff/1/manifest-2.json")
	f.Add("00ff/1/chunk-00")
	f.Fuzz(func(t *testing.T, key string) {
		if id, ok := parseKey(key); ok && !bytes.Equal([]byte(id.Key()), []byte(key)) {
			t.Fatalf("%q is %+v", key, id)
		}
	})
}
