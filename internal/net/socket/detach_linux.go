package socket

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Detach removes a connection from Go's poller: it closes c and returns a non-blocking descriptor
// for a caller that polls. In mode TLS the caller must read and write through secure, which uses
// the descriptor by the functions of raw. In mode Auth secure is nil.
func (c *Conn) Detach(raw Raw) (fd int, secure *Secure, err error) {
	fd, err = c.copyDescriptor()
	_ = c.tcp.Close()
	if err != nil || c.duct == nil {
		return fd, nil, err
	}
	c.duct.raw, c.duct.fd = raw, fd
	c.duct.polled.Store(true)
	return fd, &Secure{conn: c.tls, duct: c.duct}, nil
}

func (c *Conn) copyDescriptor() (fd int, err error) {
	raw, err := c.tcp.SyscallConn()
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
