package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// TestNotLinked: the error for a store of this module names the store and the import; that for an
// unknown scheme lists the known ones.
func TestNotLinked(t *testing.T) {
	for name, path := range map[string]string{
		"s3://bucket":              "gridrpc/store/s3",
		"jetstream://127.0.0.1:22": "gridrpc/store/jetstream",
	} {
		_, err := Open(t.Context(), name)
		require.ErrorIs(t, err, ErrNotLinked)
		assert.ErrorContains(t, err, "store "+name)
		assert.ErrorContains(t, err, `import _ "github.com/goulfm/goulfm/`+path+`"`)
	}
	_, err := Open(t.Context(), "ftp://host")
	require.ErrorIs(t, err, discovery.ErrUnsupported)
	assert.ErrorContains(t, err, "jetstream://, s3://")
}

// TestRegister: a registered store is opened by its scheme, with the values of the process.
func TestRegister(t *testing.T) {
	dir := checkpoint.Dir(t.TempDir())
	Register("trial", func(_ context.Context, name string, p Process) (checkpoint.Store, error) {
		assert.Equal(t, "trial://x", name)
		hosts, err := p.Hosts()
		assert.NoError(t, err)
		assert.Empty(t, hosts)
		return dir, nil
	})
	assert.Contains(t, Schemes(), "trial")
	t.Setenv(discovery.EnvDir, t.TempDir())
	s, err := Open(t.Context(), "trial://x")
	require.NoError(t, err)
	assert.Equal(t, dir, s)
	assert.Panics(t, func() {
		Register("trial", func(context.Context, string, Process) (checkpoint.Store, error) { return nil, nil })
	})
	assert.Panics(t, func() { Register("other", nil) })
	assert.Panics(t, func() {
		Register("a:b", func(context.Context, string, Process) (checkpoint.Store, error) { return nil, nil })
	})
}

// TestFolders: a name without a scheme is a folder, and an empty one is no store.
func TestFolders(t *testing.T) {
	s, err := Open(t.Context(), "")
	require.NoError(t, err)
	assert.Nil(t, s)
	s, err = Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	assert.NotNil(t, s)
}
