package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
)

// publish puts a version of the given number of ranks into a store, as a job does.
func publish(t *testing.T, s Store, job string, epoch, number uint64, ranks int) Version {
	t.Helper()
	v := Version{Job: job, Epoch: epoch, Number: number}
	m := ckptfile.Manifest{Job: job, Epoch: epoch, Number: number}
	for rank := range ranks {
		data := bytes.Repeat([]byte{byte(rank), byte(number), 3}, 40)
		var file bytes.Buffer
		w, err := ckptfile.NewWriter(&file, ckptfile.Head{
			Job: job, Epoch: epoch, Number: number, Size: ranks, Rank: rank, Chunk: 50,
			Members: []ckptfile.Member{{Name: "u", Kind: "uint8", Element: 1, Bytes: int64(len(data))}},
		}, ckptfile.Auto)
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
		size, crc, err := w.Close()
		require.NoError(t, err)
		name := ckptfile.FileName(rank)
		require.NoError(t, s.Put(t.Context(), v.Name()+"/"+name, size, &file))
		m.Files = append(m.Files, ckptfile.File{Name: name, Bytes: size, CRC: crc})
	}
	b, err := m.Encode()
	require.NoError(t, err)
	require.NoError(t, s.Put(t.Context(), v.Name()+"/"+ckptfile.ManifestName, -1, bytes.NewReader(b)))
	return v
}

func get(t *testing.T, s Store, key string, off, n int64) string {
	t.Helper()
	r, err := s.Get(t.Context(), key, off, n)
	require.NoError(t, err)
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return string(b)
}

func put(t *testing.T, s Store, key, text string) {
	t.Helper()
	require.NoError(t, s.Put(t.Context(), key, int64(len(text)), strings.NewReader(text)))
}

// TestStore: the promises of the package comment, for Dir.
func TestStore(t *testing.T) {
	ctx, s := t.Context(), Dir(filepath.Join(t.TempDir(), "new"))
	items, err := s.List(ctx, "")
	require.NoError(t, err)
	require.Empty(t, items, "a folder that nobody has made is empty")
	require.NoError(t, s.Delete(ctx, "a/b"))
	_, err = s.Get(ctx, "a/b", 0, -1)
	require.ErrorIs(t, err, fs.ErrNotExist)

	put(t, s, "a/b", "0123456789")
	put(t, s, "a/c", "")
	put(t, s, "ab", "x")
	assert.Equal(t, "0123456789", get(t, s, "a/b", 0, -1))
	assert.Equal(t, "234", get(t, s, "a/b", 2, 3))
	assert.Equal(t, "89", get(t, s, "a/b", 8, 30))
	assert.Equal(t, "", get(t, s, "a/b", 30, -1))
	items, err = s.List(ctx, "a/")
	require.NoError(t, err)
	assert.Equal(t, []Item{{"a/b", 10}, {"a/c", 0}}, items)

	put(t, s, "a/b", "new")
	assert.Equal(t, "new", get(t, s, "a/b", 0, -1))
	for _, size := range []int64{2, 4} {
		assert.Error(t, s.Put(ctx, "a/b", size, strings.NewReader("bad")))
	}
	assert.ErrorIs(t, s.Put(ctx, "a/b", -1, failing{}), errBroken)
	assert.Equal(t, "new", get(t, s, "a/b", 0, -1), "a Put that fails changes nothing")
	items, err = s.List(ctx, "")
	require.NoError(t, err)
	assert.Len(t, items, 3)

	require.NoError(t, s.Delete(ctx, "a/b"))
	require.NoError(t, s.Delete(ctx, "a/c"))
	require.NoError(t, s.Delete(ctx, "a/c"))
	left, err := os.ReadDir(string(s.(dir)))
	require.NoError(t, err)
	assert.Len(t, left, 1, "the folder went with its last file")
}

var errBroken = errors.New("broken")

type failing struct{}

func (failing) Read(p []byte) (int, error) { return copy(p, "some bytes, then"), errBroken }

// TestAbandoned: files that dead writers have left are not listed, and a Delete in their folder
// removes them; files that are being written now stay.
func TestAbandoned(t *testing.T) {
	root := t.TempDir()
	s := Dir(root)
	put(t, s, "a/b", "x")
	old, fresh := filepath.Join(root, "a", "c.123.tmp"), filepath.Join(root, "a", "d.456.tmp")
	for _, name := range []string{old, fresh} {
		require.NoError(t, os.WriteFile(name, []byte("half"), 0o600))
	}
	before := time.Now().Add(-2 * abandoned)
	require.NoError(t, os.Chtimes(old, before, before))
	items, err := s.List(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, []Item{{"a/b", 1}}, items)
	require.NoError(t, s.Delete(t.Context(), "a/b"))
	assert.NoFileExists(t, old)
	assert.FileExists(t, fresh)
}

// TestKeys: no key names a file outside the folder, or a file that is being written.
func TestKeys(t *testing.T) {
	ctx, s := t.Context(), Dir(t.TempDir())
	for _, key := range []string{"", "/", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", ".hidden", "a/.x", "a.tmp", "a.tmp/b", `a\b`, "a b", "a:b", "ä", "a\x00", strings.Repeat("a", KeyMax+1)} {
		assert.ErrorIs(t, s.Put(ctx, key, -1, strings.NewReader("x")), ErrKey, "%q", key)
		_, err := s.Get(ctx, key, 0, -1)
		assert.ErrorIs(t, err, ErrKey, "%q", key)
		assert.ErrorIs(t, s.Delete(ctx, key), ErrKey, "%q", key)
	}
	assert.NoError(t, CheckKey("heat-2-17/rank-0.gck"))
}

// TestOpenFolders: folders that others may write to are not used: the store's folder or one below.
func TestOpenFolders(t *testing.T) {
	root := t.TempDir()
	ctx, s := t.Context(), Dir(root)
	put(t, s, "a/b", "x")
	for _, open := range []string{root, filepath.Join(root, "a")} {
		require.NoError(t, os.Chmod(open, 0o777))
		_, err := s.Get(ctx, "a/b", 0, -1)
		assert.ErrorIs(t, err, ErrOpen)
		assert.ErrorIs(t, s.Put(ctx, "a/b", -1, strings.NewReader("y")), ErrOpen)
		assert.ErrorIs(t, s.Delete(ctx, "a/b"), ErrOpen)
		require.NoError(t, os.Chmod(open, 0o700))
	}
	require.NoError(t, os.Chmod(root, 0o777))
	_, err := List(ctx, s)
	assert.ErrorIs(t, err, ErrOpen)
	require.NoError(t, os.Chmod(root, 0o700))
	assert.Equal(t, "x", get(t, s, "a/b", 0, -1))
}

// TestCanceled: a Put ends with its context and leaves no file.
func TestCanceled(t *testing.T) {
	s := Dir(t.TempDir())
	ctx, cancel := context.WithCancelCause(t.Context())
	err := s.Put(ctx, "a", -1, io.MultiReader(strings.NewReader("begun"), canceling{cancel}))
	assert.ErrorIs(t, err, errBroken)
	items, err := s.List(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, items)
	_, err = s.Get(ctx, "a", 0, -1)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = s.List(ctx, "")
	assert.ErrorIs(t, err, context.Canceled)
}

type canceling struct{ cancel context.CancelCauseFunc }

func (c canceling) Read(p []byte) (int, error) {
	c.cancel(errBroken)
	return copy(p, "more"), nil
}

// TestManyAtOnce: processes that put and delete in the same folders do not disturb each other.
func TestManyAtOnce(t *testing.T) {
	s := Dir(t.TempDir())
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 20 {
				key := fmt.Sprintf("f%d/w%d", i%3, worker)
				text := strings.Repeat(fmt.Sprint(worker, i), 100)
				assert.NoError(t, s.Put(t.Context(), key, -1, strings.NewReader(text)))
				r, err := s.Get(t.Context(), key, 0, -1)
				if assert.NoError(t, err) {
					b, err := io.ReadAll(r)
					assert.NoError(t, errors.Join(err, r.Close()))
					assert.Equal(t, text, string(b))
				}
				assert.NoError(t, s.Delete(t.Context(), key))
			}
		})
	}
	wg.Wait()
	items, err := s.List(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, items)
}

// TestMkdirWhileFoldersGo: no other process that makes and removes the same folder makes
// mkdir report that the folder exists.
func TestMkdirWhileFoldersGo(t *testing.T) {
	root := t.TempDir()
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				_ = os.Mkdir(filepath.Join(root, "a"), 0o700)
				_ = os.Remove(filepath.Join(root, "a"))
			}
		})
	}
	for range 5000 {
		if err := dir(root).mkdir(filepath.Join(root, "a")); err != nil {
			assert.ErrorIs(t, err, fs.ErrNotExist)
		}
	}
	done.Store(true)
	wg.Wait()
}

// TestList: by job, the newest first; a version that was not published or has lost a file has an
// error.
func TestList(t *testing.T) {
	root := t.TempDir()
	ctx, s := t.Context(), Dir(root)
	publish(t, s, "heat", 1, 9, 2)
	publish(t, s, "heat", 2, 4, 3)
	publish(t, s, "heat", 2, 10, 3)
	publish(t, s, "cold-3", 1, 1, 1)
	require.NoError(t, s.Delete(ctx, "heat-2-10/manifest.json"))
	require.NoError(t, os.Truncate(filepath.Join(root, "heat-1-9", "rank-1.gck"), 5))
	put(t, s, "readme.txt", "not a version")
	put(t, s, "other/file", "neither")
	versions, err := List(ctx, s)
	require.NoError(t, err)
	var got []string
	for _, v := range versions {
		got = append(got, fmt.Sprintf("%s %d", v.Name(), v.Ranks))
	}
	assert.Equal(t, []string{"cold-3-1-1 1", "heat-2-10 0", "heat-2-4 3", "heat-1-9 2"}, got)
	assert.NoError(t, versions[0].Err)
	assert.ErrorIs(t, versions[1].Err, ErrIncomplete)
	assert.NoError(t, versions[2].Err)
	assert.ErrorIs(t, versions[3].Err, ErrMissing)
	assert.ErrorContains(t, versions[3].Err, "heat-1-9/rank-1.gck")
	assert.Positive(t, versions[1].Bytes, "it takes room all the same")
	assert.ErrorIs(t, Verify(ctx, s, versions[1]), ErrIncomplete)
	assert.ErrorIs(t, Verify(ctx, s, versions[3]), ErrMissing)
}

// TestEveryChangeIsFound: one changed byte anywhere in a version is found by Verify, and
// the error names the file.
func TestEveryChangeIsFound(t *testing.T) {
	root := t.TempDir()
	ctx, s := t.Context(), Dir(root)
	v := publish(t, s, "heat", 2, 4, 2)
	require.NoError(t, Verify(ctx, s, v))
	items, err := s.List(ctx, "")
	require.NoError(t, err)
	require.Len(t, items, 3)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, item := range items {
		path := filepath.Join(root, item.Key)
		good, err := os.ReadFile(path)
		require.NoError(t, err)
		for at := range good {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << rng.IntN(8)
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			require.ErrorContains(t, Verify(ctx, s, v), item.Key, "byte %d", at)
		}
		require.NoError(t, os.WriteFile(path, good, 0o600))
	}
	require.NoError(t, Verify(ctx, s, v))
}

// TestForeignFiles: whole files in the wrong place are not taken for the right ones.
func TestForeignFiles(t *testing.T) {
	root := t.TempDir()
	ctx, s := t.Context(), Dir(root)
	v, old := publish(t, s, "heat", 2, 4, 2), publish(t, s, "heat", 1, 4, 2)
	at := func(v Version, name string) string { return filepath.Join(root, v.Name(), name) }
	swap := func(to, from string) func() {
		good, err := os.ReadFile(to)
		require.NoError(t, err)
		other, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, other, 0o600))
		return func() { require.NoError(t, os.WriteFile(to, good, 0o600)) }
	}
	undo := swap(at(v, "rank-1.gck"), at(v, "rank-0.gck"))
	assert.ErrorIs(t, Verify(ctx, s, v), ErrForeign, "another rank's")
	undo()
	undo = swap(at(v, "rank-1.gck"), at(old, "rank-1.gck"))
	assert.ErrorIs(t, Verify(ctx, s, v), ErrForeign, "another epoch's")
	undo()
	undo = swap(at(v, "manifest.json"), at(old, "manifest.json"))
	assert.ErrorIs(t, Verify(ctx, s, v), ErrForeign, "another version's manifest")
	undo()
	assert.NoError(t, Verify(ctx, s, v))
}

// TestRemove: the manifest is deleted first, and no file stays.
func TestRemove(t *testing.T) {
	s := &journal{Store: Dir(t.TempDir())}
	v, other := publish(t, s, "heat", 2, 4, 2), publish(t, s, "heat", 2, 40, 1)
	require.NoError(t, Remove(t.Context(), s, v))
	assert.Equal(t, []string{"heat-2-4/manifest.json", "heat-2-4/rank-0.gck", "heat-2-4/rank-1.gck"}, s.deleted)
	versions, err := List(t.Context(), s)
	require.NoError(t, err)
	require.Len(t, versions, 1)
	assert.Equal(t, other.Name(), versions[0].Name())
	assert.NoError(t, Verify(t.Context(), s, other))
}

// journal notes the deleted keys.
type journal struct {
	Store
	deleted []string
}

func (j *journal) Delete(ctx context.Context, key string) error {
	j.deleted = append(j.deleted, key)
	return j.Store.Delete(ctx, key)
}
