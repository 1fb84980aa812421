package ckptfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func names(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestWriteFile: a file is whole, or not there at all. A failed write leaves the old file and
// nothing else.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rank-0.gck")
	say := func(text string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	require.NoError(t, WriteFile(path, say("one")))
	require.NoError(t, WriteFile(path, say("two")))
	boom := errors.New("boom")
	err := WriteFile(path, func(w io.Writer) error {
		assert.NoError(t, say("three")(w))
		found := names(t, dir)
		assert.Len(t, found, 2)
		assert.True(t, IsUnfinished(found[1]), "%v: readers see an unfinished name", found)
		return boom
	})
	require.ErrorIs(t, err, boom)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "two", string(text))
	assert.Equal(t, []string{"rank-0.gck"}, names(t, dir))
	assert.False(t, IsUnfinished("rank-0.gck"))
	assert.ErrorIs(t, WriteFile(filepath.Join(dir, "no", "file"), say("x")), os.ErrNotExist)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	assert.Error(t, WriteFile(filepath.Join(dir, "folder"), say("x")), "a rename that fails")
	assert.Equal(t, []string{"folder", "rank-0.gck"}, names(t, dir))
}

func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]error{0o700: nil, 0o755: nil, 0o775: ErrOpen, 0o757: ErrOpen, 0o777: ErrOpen} {
		require.NoError(t, os.Chmod(dir, mode))
		if err := CheckFolder(dir); want == nil {
			assert.NoError(t, err, "%o", mode)
		} else {
			assert.ErrorIs(t, err, want, "%o", mode)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	assert.Error(t, CheckFolder(filepath.Join(dir, "file")))
	assert.ErrorIs(t, CheckFolder(filepath.Join(dir, "none")), os.ErrNotExist)
}
