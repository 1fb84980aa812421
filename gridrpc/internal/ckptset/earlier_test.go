package ckptset

import (
	"bytes"
	"encoding/gob"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// The folders testdata/COMMIT/store have the checkpoints that released builds wrote, as gridrpc up
// --store names such a folder. The code of a release writes the files once:
//
//	go test ./internal/ckptset -run TestWrite -args -write testdata/COMMIT

var writeTo = flag.String("write", "", "folder to write the checkpoints of this build to: testdata/COMMIT")

const earlierCall = "00112233445566778899aabbccddeeff"

// An earlierState is a state of a body, as server.Call.State encodes it.
type earlierState struct {
	Step  int
	Names map[string]float64
}

// earlierFiles returns the content of the files in a checkpoint.
func earlierFiles(number int) map[string]string {
	return map[string]string{
		"same":        strings.Repeat("unchanged\n", 100),
		"a/b/grow":    strings.Repeat("x", 10*number),
		"empty":       "",
		"restart.sh":  "#!/bin/sh\n",
		"image/1/all": strings.Repeat("y", number),
	}
}

func stateOf(attempt, number int) earlierState {
	return earlierState{Step: 10*attempt + number, Names: map[string]float64{"pi": 3.25, "attempt": float64(attempt)}}
}

// TestWrite writes the checkpoints of a release: two attempts, of which the second continues.
func TestWrite(t *testing.T) {
	if *writeTo == "" {
		t.Skip("writes the files of a release, with -args -write testdata/COMMIT")
	}
	store := checkpoint.Dir(filepath.Join(*writeTo, "store"))
	for attempt := 1; attempt <= 2; attempt++ {
		w := NewWriter(store, earlierCall, attempt)
		for number := 1; number <= 3; number++ {
			dir := t.TempDir()
			sources := []Source{{Name: "same", Kind: File}, {Name: "a/b/grow", Kind: File}, {Name: "empty", Kind: File}, {Name: "restart.sh", Kind: Script}, {Name: "image/1/all", Kind: File}}
			for name, text := range earlierFiles(number) {
				write(t, dir, name, text)
			}
			require.NoError(t, os.Chmod(filepath.Join(dir, "restart.sh"), 0o700))
			var b bytes.Buffer
			require.NoError(t, gob.NewEncoder(&b).Encode(stateOf(attempt, number)))
			sources = append(sources, Source{Name: "state", Kind: Value, Data: b.Bytes()}, Source{Name: "none", Kind: Value})
			_, err := w.Commit(t.Context(), dir, sources)
			require.NoError(t, err)
		}
	}
}

// earlier calls f with a copy of the folder of each build.
func earlier(t *testing.T, f func(dir string)) {
	builds, err := filepath.Glob("testdata/*/store")
	require.NoError(t, err)
	require.NotEmpty(t, builds)
	for _, from := range builds {
		dir := filepath.Join(t.TempDir(), "store")
		require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(path, 0o700) // a checkout may have other permissions
			}
			return err
		}))
		f(dir)
	}
}

// TestEarlier: the checkpoints of each build are listed and restored with their exact contents.
func TestEarlier(t *testing.T) {
	earlier(t, func(dir string) {
		store, to := checkpoint.Dir(dir), t.TempDir()
		all, err := List(t.Context(), store, "")
		require.NoError(t, err)
		require.Equal(t, []ID{{earlierCall, 2, 3}, {earlierCall, 2, 2}, {earlierCall, 1, 3}, {earlierCall, 1, 2}}, all)
		for _, id := range all {
			m, err := Load(t.Context(), store, id)
			require.NoError(t, err)
			values, err := m.Restore(t.Context(), store, to)
			require.NoError(t, err)
			for name, text := range earlierFiles(id.Number) {
				assert.Equal(t, text, read(t, to, name))
				info, err := os.Stat(filepath.Join(to, name))
				require.NoError(t, err)
				assert.Equal(t, map[bool]os.FileMode{false: 0o640, true: 0o700}[name == "restart.sh"], info.Mode().Perm(), name)
			}
			var state earlierState
			require.NoError(t, gob.NewDecoder(bytes.NewReader(values["state"])).Decode(&state))
			assert.Equal(t, stateOf(id.Attempt, id.Number), state)
			assert.Empty(t, values["none"])
			assert.Len(t, values, 2)
		}
		require.NoError(t, Remove(t.Context(), store, earlierCall))
		items, err := store.List(t.Context(), "")
		require.NoError(t, err)
		assert.Empty(t, items)
	})
}

// TestEarlierDamaged: a file that was cut short or has a changed byte is refused, and a manifest of
// a later format is refused with both numbers.
func TestEarlierDamaged(t *testing.T) {
	earlier(t, func(dir string) {
		store, to, id := checkpoint.Dir(dir), t.TempDir(), ID{earlierCall, 2, 3}
		good, err := Load(t.Context(), store, id)
		require.NoError(t, err)
		files := []string{id.Key()}
		for _, p := range good.Pieces {
			for _, sum := range p.Chunks {
				files = append(files, id.chunkKey(sum))
			}
		}
		require.Len(t, files, 1+5)
		restore := func() error {
			m, err := Load(t.Context(), store, id)
			if err == nil {
				_, err = m.Restore(t.Context(), store, to)
			}
			return err
		}
		for i, file := range files {
			path := filepath.Join(dir, file)
			was, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, n := range []int{0, len(was) / 2, len(was) - 1} {
				require.NoError(t, os.WriteFile(path, was[:n], 0o600))
				require.Error(t, restore(), "%s: %d of %d bytes", file, n, len(was))
				if i == 0 {
					continue // a manifest has no checksum: a changed name or mode of a file is not found
				}
				changed := bytes.Clone(was)
				changed[n] ^= 4
				require.NoError(t, os.WriteFile(path, changed, 0o600))
				require.ErrorIs(t, restore(), ErrTorn, "%s: byte %d", file, n)
			}
			require.NoError(t, os.WriteFile(path, was, 0o600))
		}
		require.NoError(t, restore())

		path := filepath.Join(dir, id.Key())
		was, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, bytes.Replace(was, []byte(`{`), []byte(`{"Format":2,`), 1), 0o600))
		err = restore()
		require.ErrorIs(t, err, ErrMalformed)
		assert.ErrorContains(t, err, "format 2, and this build reads formats up to 1: use the build that wrote it, or a later gridrpc")
	})
}
