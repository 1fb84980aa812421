package remotedaemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// TestLostOutputWithoutLauncher: the log of the node and the exit code of its daemon report that
// output is lost.
func TestLostOutputWithoutLauncher(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/dev/full", daemonproto.OutputFile(dir, 3, false)))
	o := newNodeDaemon()
	o.plan.OutputDir, o.solo.dir = dir, dir
	o.solo.begin(0)
	code, err := o.settledCode()
	assert.Zero(t, code)
	require.NoError(t, err)

	f, err := o.createFile(3, false)
	require.NoError(t, err)
	f.Write([]byte("one\n"))
	f.Write([]byte("two\n"))
	code, err = o.settledCode()
	assert.Equal(t, 6, code)
	assert.ErrorContains(t, err, "output of rank 3 is lost")
	text, err := os.ReadFile(filepath.Join(dir, "node.0.log"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "no space left on device")
}
