package socket

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// Detach takes a connection out of the hands of Go's runtime: it returns a descriptor that never
// blocks, for a caller that polls, and closes conn.
func Detach(conn *net.TCPConn) (fd int, err error) {
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	var failed error
	err = raw.Control(func(old uintptr) {
		if fd, failed = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0); failed == nil {
			failed = unix.SetNonblock(fd, true)
		}
	})
	return fd, errors.Join(err, failed)
}
