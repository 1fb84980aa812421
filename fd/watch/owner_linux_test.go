package watch

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestJobOfAnotherUser: the error names the user, and does not claim that the job is over.
func TestJobOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	shared, err := os.MkdirTemp("/tmp", "goulfm-test-") //nolint:usetesting // the other user cannot enter the folders above t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(shared) })
	require.NoError(t, os.Chmod(shared, 0o755)) // as /tmp is, for the other user
	folder := filepath.Join(shared, "goulfm-watch-1-2")
	require.NoError(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "socket")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.Chown(folder, 4242, 4242))

	opened := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends as the other user
		if err := syscall.Setfsuid(4343); err != nil {
			opened <- err
			return
		}
		_, err := OpenAt(t.Context(), path)
		opened <- err
	}()
	err = <-opened
	require.ErrorIs(t, err, ErrRefused)
	assert.ErrorContains(t, err, "permission denied: the job belongs to user 4242")
	assert.NotErrorIs(t, err, ErrNoJob)
}
