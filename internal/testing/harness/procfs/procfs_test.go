package procfs

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRSS(t *testing.T) {
	assert.EqualValues(t, 1234, rss("Name:\tx\nVmPeak:\t  9 kB\nVmRSS:\t  1234 kB\n"))
	assert.Zero(t, rss(""))
	if _, err := os.Stat("/proc/self/status"); err != nil {
		assert.Zero(t, RSS(os.Getpid()))
		return
	}
	assert.Positive(t, RSS(os.Getpid()))
	before := Descriptors(os.Getpid())
	f, err := os.Open(os.DevNull)
	assert.NoError(t, err)
	assert.Equal(t, before+1, Descriptors(os.Getpid()))
	assert.NoError(t, f.Close())
	assert.Zero(t, Descriptors(-1))
}

// TestDescendants starts a shell that starts a shell that starts a program.
func TestDescendants(t *testing.T) {
	assert.Equal(t, 12, parent("7 (a) b) S 12 7 7 0 -1\n"))
	assert.Zero(t, parent("7 (a"))
	assert.Zero(t, parent(""))
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		assert.Empty(t, Descendants(os.Getpid()))
		return
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", "sh -c 'cat; :'; :")
	in, err := shell.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, shell.Start())
	defer func() {
		assert.NoError(t, in.Close())
		assert.NoError(t, shell.Wait())
	}()
	require.Eventually(t, func() bool { return len(Descendants(shell.Process.Pid)) == 2 }, time.Minute, time.Millisecond)
	assert.Equal(t, os.Getpid(), Parent(shell.Process.Pid))
	assert.NotEmpty(t, Program(os.Getpid()))
	assert.Empty(t, Program(-1))
	assert.Zero(t, Parent(-1))
	assert.Subset(t, Descendants(os.Getpid()), append(Descendants(shell.Process.Pid), shell.Process.Pid))
}
