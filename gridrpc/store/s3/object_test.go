package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// object returns bytes that contain their key, version and size. So a reader can check that it has
// all bytes of one Put, and of which.
func object(key string, version, size int) []byte {
	head := fmt.Sprintf("%s %d %d\n", key, version, size)
	data := make([]byte, max(size, len(head)))
	n := copy(data, head)
	noise := rand.NewChaCha8(sha256.Sum256([]byte(head)))
	_, _ = noise.Read(data[n:]) // it has no errors
	return data
}

// versionOf returns the version of bytes, or an error if they are not all bytes of one Put.
func versionOf(key string, data []byte) (version int, err error) {
	var named string
	var size int
	if _, err := fmt.Sscanf(string(data[:min(len(data), 200)]), "%s %d %d\n", &named, &version, &size); err != nil {
		return 0, fmt.Errorf("%s: %d bytes of no object: %w", key, len(data), err)
	}
	if named != key || !bytes.Equal(data, object(key, version, size)) {
		return 0, fmt.Errorf("%s: %d bytes are not the %d of version %d of %s", key, len(data), size, version, named)
	}
	return version, nil
}

// put puts a version of an object.
func put(ctx context.Context, s checkpoint.Store, key string, version, size int) error {
	data := object(key, version, size)
	return s.Put(ctx, key, int64(len(data)), bytes.NewReader(data))
}

// read reads an object to its end.
func read(ctx context.Context, s checkpoint.Store, key string) ([]byte, error) {
	r, err := s.Get(ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// assertWhole reads an object, which must exist completely, and returns its version.
func assertWhole(t *testing.T, s checkpoint.Store, key string) int {
	t.Helper()
	data, err := read(t.Context(), s, key)
	require.NoError(t, err)
	version, err := versionOf(key, data)
	require.NoError(t, err)
	return version
}

// TestVersionOf: complete and incomplete bytes of an object are distinguished.
func TestVersionOf(t *testing.T) {
	one, two := object("o", 1, 5000), object("o", 2, 5000)
	version, err := versionOf("o", two)
	require.NoError(t, err)
	assert.Equal(t, 2, version)
	for what, data := range map[string][]byte{
		"nothing": {}, "less": one[:4999], "more": append(bytes.Clone(one), 0), "of two": append(bytes.Clone(one[:2000]), two[2000:]...),
		"of another key": object("x", 1, 5000), "zeros": append(bytes.Clone(one[:4000]), make([]byte, 1000)...),
	} {
		_, err = versionOf("o", data)
		assert.Error(t, err, what)
	}
}
