// Package storetest is the conformance suite for all stores of checkpoints. It tests the promises
// in the comment of package recovery/checkpoint.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/ckptset"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Run tests all promises. open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) checkpoint.Store) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s checkpoint.Store)
	}{
		{"nothing", nothing},
		{"get", gets},
		{"whole or not at all", whole},
		{"list", lists},
		{"delete", deletes},
		{"locate", locates},
		{"keys", keys},
		{"canceled", canceled},
		{"large", large},
		{"many at once", manyAtOnce},
		{"torn bundles", torn},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

func put(t *testing.T, s checkpoint.Store, key, text string) {
	t.Helper()
	require.NoError(t, s.Put(t.Context(), key, int64(len(text)), strings.NewReader(text)))
}

func get(t *testing.T, s checkpoint.Store, key string, off, n int64) string {
	t.Helper()
	r, err := s.Get(t.Context(), key, off, n)
	require.NoError(t, err, "%s from %d, %d", key, off, n)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return string(data)
}

func list(t *testing.T, s checkpoint.Store, prefix string) []checkpoint.Item {
	t.Helper()
	items, err := s.List(t.Context(), prefix)
	require.NoError(t, err)
	return items
}

// nothing: an empty store has no files.
func nothing(t *testing.T, s checkpoint.Store) {
	assert.Empty(t, list(t, s, ""))
	_, err := s.Get(t.Context(), "a/b", 0, -1)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = s.Get(t.Context(), "a/b", 3, 0)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.NoError(t, s.Delete(t.Context(), "a/b"))
}

// gets: any part of a file is returned, also beyond its end.
func gets(t *testing.T, s checkpoint.Store) {
	const text = "0123456789"
	put(t, s, "a/b", text)
	put(t, s, "a/empty", "")
	for off := range int64(12) {
		for n := int64(-1); n < 12; n++ {
			from := min(off, 10)
			to := int64(10)
			if n >= 0 {
				to = min(from+n, 10)
			}
			assert.Equal(t, text[from:to], get(t, s, "a/b", off, n), "from %d, %d bytes", off, n)
		}
	}
	assert.Empty(t, get(t, s, "a/empty", 0, -1))
	assert.Empty(t, get(t, s, "a/empty", 0, 5))
	assert.Empty(t, get(t, s, "a/empty", 5, -1))
	put(t, s, "a/b", "new")
	assert.Equal(t, "new", get(t, s, "a/b", 0, -1), "a Put replaces a file")
	assert.Equal(t, "new", get(t, s, "a/b", 0, 1<<62))
}

var errBroken = errors.New("broken")

// failing is a reader that returns some bytes, and then an error.
type failing struct{ left int }

func (f *failing) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, errBroken
	}
	n := min(len(p), f.left)
	f.left -= n
	return n, nil
}

// whole: a failed Put changes nothing, with or without an earlier file.
func whole(t *testing.T, s checkpoint.Store) {
	put(t, s, "old", "former")
	for _, key := range []string{"old", "new"} {
		for _, size := range []int64{0, 2, 4} {
			assert.Error(t, s.Put(t.Context(), key, size, strings.NewReader("bad")), "%d bytes", size)
		}
		for _, size := range []int64{-1, 5, 100, 9 << 20} {
			assert.ErrorIs(t, s.Put(t.Context(), key, size, &failing{left: 5}), errBroken, "%d bytes", size)
		}
		assert.ErrorIs(t, s.Put(t.Context(), key, -1, &failing{left: 20 << 20}), errBroken)
	}
	assert.Equal(t, []checkpoint.Item{{Key: "old", Size: 6}}, list(t, s, ""))
	assert.Equal(t, "former", get(t, s, "old", 0, -1))
	require.NoError(t, s.Put(t.Context(), "new", -1, strings.NewReader("of unknown length")))
	assert.Equal(t, "of unknown length", get(t, s, "new", 0, -1))
}

// lists: keys with a prefix are listed in order, also more than fit into one page of a service.
func lists(t *testing.T, s checkpoint.Store) {
	put(t, s, "ab", "x")
	put(t, s, "a/b", "0123")
	put(t, s, "a/c/d", "")
	put(t, s, "a-b", "y")
	assert.Equal(t, []checkpoint.Item{{Key: "a-b", Size: 1}, {Key: "a/b", Size: 4}, {Key: "a/c/d"}, {Key: "ab", Size: 1}}, list(t, s, ""))
	assert.Equal(t, []checkpoint.Item{{Key: "a/b", Size: 4}, {Key: "a/c/d"}}, list(t, s, "a/"))
	assert.Equal(t, []checkpoint.Item{{Key: "a/c/d"}}, list(t, s, "a/c"))
	assert.Empty(t, list(t, s, "b"))
	const many = 1100
	for i := range many {
		put(t, s, fmt.Sprintf("many/%04d", i), "")
	}
	all := list(t, s, "many/")
	require.Len(t, all, many)
	for i, item := range all {
		require.Equal(t, fmt.Sprintf("many/%04d", i), item.Key)
	}
}

func deletes(t *testing.T, s checkpoint.Store) {
	put(t, s, "a/b", "x")
	put(t, s, "a/bc", "y")
	require.NoError(t, s.Delete(t.Context(), "a/b"))
	require.NoError(t, s.Delete(t.Context(), "a/b"))
	_, err := s.Get(t.Context(), "a/b", 0, -1)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.Equal(t, "y", get(t, s, "a/bc", 0, -1))
}

// locates: a store that is a Locator names at least one host of an existing file, each once and in
// order, and none of a missing file.
func locates(t *testing.T, s checkpoint.Store) {
	put(t, s, "a/b", "x")
	hosts, err := checkpoint.Locate(t.Context(), s, "a/b")
	require.NoError(t, err)
	l, ok := s.(checkpoint.Locator)
	if !ok {
		assert.Empty(t, hosts)
		return
	}
	assert.NotEmpty(t, hosts)
	assert.NotContains(t, hosts, checkpoint.Host(""))
	assert.Equal(t, slices.Compact(slices.Sorted(slices.Values(hosts))), hosts)
	_, err = l.Locate(t.Context(), "a/c")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = l.Locate(t.Context(), "../x")
	assert.ErrorIs(t, err, checkpoint.ErrKey)
}

// keys: an invalid key is refused by all calls.
func keys(t *testing.T, s checkpoint.Store) {
	for _, key := range []string{"", "/", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", ".hidden", "a/.x", "a.tmp", `a\b`, "a b", "ä", "a\x00", strings.Repeat("a", checkpoint.KeyMax+1)} {
		assert.ErrorIs(t, s.Put(t.Context(), key, -1, strings.NewReader("x")), checkpoint.ErrKey, "%q", key)
		_, err := s.Get(t.Context(), key, 0, -1)
		assert.ErrorIs(t, err, checkpoint.ErrKey, "%q", key)
		assert.ErrorIs(t, s.Delete(t.Context(), key), checkpoint.ErrKey, "%q", key)
	}
	assert.Empty(t, list(t, s, ""))
}

// canceling is a reader that cancels its context when it is read.
type canceling struct{ cancel context.CancelFunc }

func (c canceling) Read(p []byte) (int, error) {
	c.cancel()
	return copy(p, "more"), nil
}

// canceled: a call with a canceled context has no effect.
func canceled(t *testing.T, s checkpoint.Store) {
	put(t, s, "b", "x")
	ctx, cancel := context.WithCancel(t.Context())
	endless := io.MultiReader(strings.NewReader("begun"), canceling{cancel}, &failing{left: 64 << 20})
	assert.ErrorIs(t, s.Put(ctx, "a", -1, endless), context.Canceled)
	assert.ErrorIs(t, s.Put(ctx, "a", 1, strings.NewReader("x")), context.Canceled)
	_, err := s.Get(ctx, "b", 0, -1)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = s.List(ctx, "")
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, s.Delete(ctx, "b"), context.Canceled)
	_, err = checkpoint.Locate(ctx, s, "b")
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []checkpoint.Item{{Key: "b", Size: 1}}, list(t, s, ""))
}

// large: a file above the size of one request is stored, of known or unknown length.
func large(t *testing.T, s checkpoint.Store) {
	data := make([]byte, 18<<20+7)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	for _, size := range []int64{int64(len(data)), -1} {
		require.NoError(t, s.Put(t.Context(), "large", size, io.MultiReader(bytes.NewReader(data)))) // it cannot seek
		assert.True(t, string(data) == get(t, s, "large", 0, -1), "other bytes")
		assert.Equal(t, string(data[17<<20:17<<20+9]), get(t, s, "large", 17<<20, 9))
		assert.Equal(t, []checkpoint.Item{{Key: "large", Size: int64(len(data))}}, list(t, s, ""))
	}
}

// manyAtOnce: simultaneous users of one store do not disturb each other.
func manyAtOnce(t *testing.T, s checkpoint.Store) {
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 20 {
				key := fmt.Sprintf("f%d/w%d", i%3, worker)
				text := strings.Repeat(fmt.Sprint(worker, i), 100)
				assert.NoError(t, s.Put(t.Context(), key, -1, strings.NewReader(text)))
				r, err := s.Get(t.Context(), key, 0, -1)
				if assert.NoError(t, err) {
					data, err := io.ReadAll(r)
					assert.NoError(t, errors.Join(err, r.Close()))
					assert.Equal(t, text, string(data))
				}
				assert.NoError(t, s.Delete(t.Context(), key))
			}
		})
	}
	all.Wait()
	assert.Empty(t, list(t, s, ""))
}

// torn: a checkpoint with a missing or changed piece is not restored, and leaves no files.
func torn(t *testing.T, s checkpoint.Store) {
	from, to := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(from, "numbers"), bytes.Repeat([]byte("1 2 3 "), 200_000), 0o600))
	sources := []ckptset.Source{{Name: "numbers", Kind: ckptset.File}, {Name: "n", Kind: ckptset.Value, Data: []byte("seven")}}
	m, err := ckptset.NewWriter(s, "ab12", 1).Commit(t.Context(), from, sources)
	require.NoError(t, err)
	loaded, err := ckptset.Load(t.Context(), s, m.ID)
	require.NoError(t, err)
	values, err := loaded.Restore(t.Context(), s, to)
	require.NoError(t, err)
	assert.Equal(t, "seven", string(values["n"]))
	assert.FileExists(t, filepath.Join(to, "numbers"))
	for _, item := range list(t, s, "ab12/1/chunk-") {
		whole := get(t, s, item.Key, 0, -1)
		put(t, s, item.Key, whole[:len(whole)-1]+"?")
		_, err = loaded.Restore(t.Context(), s, to)
		assert.ErrorIs(t, err, ckptset.ErrTorn)
		require.NoError(t, s.Delete(t.Context(), item.Key))
		_, err = loaded.Restore(t.Context(), s, to)
		assert.ErrorIs(t, err, ckptset.ErrTorn)
		left, err := os.ReadDir(to)
		require.NoError(t, err)
		assert.Empty(t, left)
		put(t, s, item.Key, whole)
	}
	require.NoError(t, ckptset.Remove(t.Context(), s, "ab12"))
	assert.Empty(t, list(t, s, ""))
}
