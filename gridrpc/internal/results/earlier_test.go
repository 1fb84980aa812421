package results

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// The folders testdata/COMMIT/store have the results that released builds stored. The code of a
// release writes them once:
//
//	go test ./internal/results -run TestWrite -args -write testdata/COMMIT

var writeTo = flag.String("write", "", "folder to write the results of this build to: testdata/COMMIT")

// earlierResults are the stored results of server s1, by attempt.
var earlierResults = map[uint32]string{1: "", 2: strings.Repeat("a result of two lines,\nor more ", 40)}

var earlierUntil = time.Date(2030, 1, 2, 3, 4, 5, 600, time.UTC)

// TestWrite writes the results of a release.
func TestWrite(t *testing.T) {
	if *writeTo == "" {
		t.Skip("writes the files of a release, with -args -write testdata/COMMIT")
	}
	s := New(checkpoint.Dir(filepath.Join(*writeTo, "store")), "s1")
	for attempt, text := range earlierResults {
		require.NoError(t, s.Put(t.Context(), Record{Call: call, Attempt: attempt, Service: "square", Codec: "json", Until: earlierUntil}, []byte(text)))
	}
}

// TestEarlier: the results of each build are listed and read. A later format is refused with both
// numbers, and a header or result that was cut or changed is refused, too.
func TestEarlier(t *testing.T) {
	builds, err := filepath.Glob("testdata/*/store/kept/s1")
	require.NoError(t, err)
	require.NotEmpty(t, builds)
	for _, from := range builds {
		root := t.TempDir()
		dir := filepath.Join(root, "kept", "s1")
		require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
		for _, folder := range []string{root, filepath.Dir(dir), dir} {
			require.NoError(t, os.Chmod(folder, 0o700)) // a checkout may have other permissions
		}
		s := New(checkpoint.Dir(root), "s1")
		all, err := s.List(t.Context())
		require.NoError(t, err)
		require.Len(t, all, len(earlierResults))
		for _, r := range all {
			want := earlierResults[r.Attempt]
			assert.Equal(t, []string{call, "square", "json"}, []string{r.Call, r.Service, r.Codec})
			assert.True(t, earlierUntil.Equal(r.Until))
			assert.EqualValues(t, len(want), r.Size)
			got, err := s.Get(t.Context(), r.Call, r.Attempt)
			require.NoError(t, err)
			assert.Equal(t, want, string(got))
		}
		path := filepath.Join(dir, call+"-2")
		was, err := os.ReadFile(path)
		require.NoError(t, err)
		refused := func(now []byte) error {
			require.NoError(t, os.WriteFile(path, now, 0o600))
			_, err := s.Get(t.Context(), call, 2)
			require.ErrorIs(t, err, ErrMalformed)
			return err
		}
		for _, n := range []int{0, 1, len(was) / 2, len(was) - 1} {
			_ = refused(was[:n])
			if n > 1 {
				changed := bytes.Clone(was)
				changed[n] ^= 4
				_ = refused(changed)
			}
		}
		err = refused(bytes.Replace(was, []byte(`{`), []byte(`{"Format":2,`), 1))
		assert.ErrorContains(t, err, "kept/s1/"+call+"-2: ")
		assert.ErrorContains(t, err, "format 2, and this build reads formats up to 1: use the build that wrote it, or a later gridrpc")
	}
}
