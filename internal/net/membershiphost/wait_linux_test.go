package membershiphost

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestWakeAfterClose: another goroutine has seen the thread asleep, and wakes it after the Place was
// closed. The file that has the number of the eventfd by then receives nothing.
func TestWakeAfterClose(t *testing.T) {
	p, err := openPackets(net.IPv4(127, 0, 0, 1))
	require.NoError(t, err)
	old := p.waker.fd
	p.close()
	next, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	require.NoError(t, err)
	defer unix.Close(next)
	if next != old {
		require.NoError(t, unix.Dup3(next, old, unix.O_CLOEXEC))
		defer unix.Close(old)
	}
	p.waker.wake()
	_, err = unix.Read(next, make([]byte, 8))
	assert.ErrorIs(t, err, unix.EAGAIN)
}
