package socket

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Detach takes a connection out of the hands of Go's runtime: it returns a descriptor that never
// blocks, for a caller that polls, and closes c. In mode TLS what goes over the descriptor is to
// go through the Secure, which uses it as raw says; else that is nil.
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
