package jetstream

import (
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// The folders testdata/COMMIT have the data of three replicas of released builds, once written by:
//
//	go test ./store/jetstream -run TestWrite -args -write testdata/COMMIT

var writeTo = flag.String("write", "", "folder to write the data of this build's replicas to: testdata/COMMIT")

var earlierFiles = map[string]string{
	"00ff/1/manifest-2.json": `{"Call":"00ff","Attempt":1,"Number":2,"Pieces":null}`,
	"00ff/1/chunk-a.b_c":     strings.Repeat("0123456789", inlineMax/10+100),
	"kept/s1/00ff-1":         "",
}

// TestWrite writes the data of a release: files, of which one is replaced and one deleted.
func TestWrite(t *testing.T) {
	if *writeTo == "" {
		t.Skip("writes the files of a release, with -args -write testdata/COMMIT")
	}
	s := open(t, clusterIn(t, *writeTo))
	require.NoError(t, s.Put(t.Context(), "00ff/1/manifest-1.json", -1, strings.NewReader("deleted")))
	require.NoError(t, s.Put(t.Context(), "kept/s1/00ff-1", -1, strings.NewReader("replaced")))
	for key, text := range earlierFiles {
		require.NoError(t, s.Put(t.Context(), key, int64(len(text)), strings.NewReader(text)))
	}
	require.NoError(t, s.Delete(t.Context(), "00ff/1/manifest-1.json"))
}

// TestEarlier: replicas of this build continue with the data of each build.
func TestEarlier(t *testing.T) {
	builds, err := filepath.Glob("testdata/*")
	require.NoError(t, err)
	require.NotEmpty(t, builds)
	for _, from := range builds {
		dir := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
		s := open(t, clusterIn(t, dir))
		items, err := s.List(t.Context(), "")
		require.NoError(t, err)
		require.Len(t, items, len(earlierFiles))
		for _, i := range items {
			text, ok := earlierFiles[i.Key]
			require.True(t, ok, i.Key)
			assert.Equal(t, checkpoint.Item{Key: i.Key, Size: int64(len(text))}, i)
			assert.Equal(t, text, contents(t, s, i.Key, 0))
			assert.Equal(t, text[len(text)/3:], contents(t, s, i.Key, int64(len(text)/3)))
		}
		require.NoError(t, s.Put(t.Context(), "00ff/2/chunk-a", -1, strings.NewReader(earlierFiles["00ff/1/chunk-a.b_c"])))
		assert.Equal(t, earlierFiles["00ff/1/chunk-a.b_c"], contents(t, s, "00ff/2/chunk-a", 0))
		for key := range earlierFiles {
			require.NoError(t, s.Delete(t.Context(), key))
			_, err := s.Get(t.Context(), key, 0, -1)
			assert.ErrorIs(t, err, fs.ErrNotExist, key)
		}
	}
}

func contents(t *testing.T, s *Store, key string, off int64) string {
	t.Helper()
	r, err := s.Get(t.Context(), key, off, -1)
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return string(data)
}

func TestLaterRecord(t *testing.T) {
	good, err := record{ID: strings.Repeat("0a", 16), Size: 3, Inline: true, body: []byte("abc")}.encode()
	require.NoError(t, err)
	_, err = decodeRecord(good)
	require.NoError(t, err)
	_, err = decodeRecord([]byte(strings.Replace(string(good), "{", `{"format":2,`, 1)))
	require.ErrorIs(t, err, errMalformed)
	assert.ErrorContains(t, err, "format 2, and this build reads formats up to 1: use the build that wrote it, or a later gridrpc")
}
