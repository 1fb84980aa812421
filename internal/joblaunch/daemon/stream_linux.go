package daemon

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A stream is the daemon's end of a pipe or socket that a process writes to. Its end comes
// when all have closed it; but a process that it has started may hold it for as long
// as it lives. So what was in it at a certain moment can be read to its end, too.
type stream struct{ from source }

// source is an *os.File or a net.Conn.
type source interface {
	io.ReadCloser
	syscall.Conn
	SetReadDeadline(time.Time) error
}

// end makes what is in the stream now its last bytes. Whoever reads it gets them, and io.EOF
// after them; so those that wrote must have ended.
func (s stream) end() { _ = s.from.SetReadDeadline(time.Unix(1, 0)) }

func (s stream) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return s.readNow(b)
	}
	return n, err
}

// readNow reads what is there, without a wait.
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
