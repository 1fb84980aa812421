package daemon

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A stream is the daemon's end of a pipe or socket that a process writes to. Its end comes when all
// have closed it; but a child of the process may hold the stream for as long as it lives. The bytes
// in the stream at a certain moment can therefore be read to their end, too.
type stream struct{ from source }

// source is an *os.File or a net.Conn.
type source interface {
	io.ReadCloser
	syscall.Conn
	SetReadDeadline(time.Time) error
}

// end makes the bytes now in the stream its last ones. The reader receives them, and io.EOF after
// them; the writers must have ended.
func (s stream) end() { _ = s.from.SetReadDeadline(time.Unix(1, 0)) }

func (s stream) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return s.readNow(b)
	}
	return n, err
}

// readNow reads the available bytes, without a wait.
func (s stream) readNow(b []byte) (n int, err error) {
	raw, err := s.from.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		for {
			if n, failed = unix.Read(int(fd), b); !errors.Is(failed, unix.EINTR) {
				return
			}
		}
	}); err != nil {
		return 0, err
	}
	if failed != nil || n <= 0 {
		return 0, io.EOF
	}
	return n, nil
}
