//go:build unix

package pmi

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Alive reports whether a descriptor is a connected stream socket whose other end has not closed
// it. Alive consumes no byte of the socket. After a program of a task has finalized, the
// descriptor of the next program is still a socket, but without a peer.
func Alive(fd int) bool {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_STREAM {
		return false
	}
	for {
		n, _, err := unix.Recvfrom(fd, make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0 || errors.Is(err, unix.EAGAIN)
		}
	}
}
