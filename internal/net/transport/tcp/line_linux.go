package tcp

import (
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/session"
	"golang.org/x/sys/unix"
)

// A line is a non-blocking socket, encrypted or not.
type line struct {
	fd     int            // -1: closed
	secure *socket.Secure // nil: not encrypted
}

var noLine = line{fd: -1}

func (l *line) open() bool { return l.fd >= 0 }

// read returns bytes that have arrived; EAGAIN: there are none; 0 bytes: the peer has closed the
// connection.
func (l *line) read(b []byte) (int, error) {
	if l.secure != nil {
		return l.secure.Read(b)
	}
	return receive(l.fd, b)
}

// write writes as much of b as the line accepts. An encrypted line keeps some of it until flush.
func (l *line) write(b []byte) (n int, err error) {
	if l.secure == nil {
		return send(l.fd, b)
	}
	for {
		k := min(len(b)-n, l.secure.Room())
		if err := l.secure.Write(b[n : n+k]); err != nil {
			return n, err
		}
		if n += k; n == len(b) {
			return n, nil
		}
		if all, err := l.secure.Flush(); !all {
			return n, err
		}
	}
}

// say sends a hello. A fresh socket has room for a hello; a broken one becomes readable.
func (l *line) say(h session.Hello) {
	_, _ = l.write(h.Append(nil))
	_, _ = l.flush()
}

// flush sends bytes that the line has accepted and the socket has not, and reports whether all are
// sent.
func (l *line) flush() (all bool, err error) {
	if l.secure == nil {
		return true, nil
	}
	return l.secure.Flush()
}

// flushed reports whether the socket has all bytes that the line has accepted.
func (l *line) flushed() bool { return l.secure == nil || l.secure.Flushed() }

func (l *line) close() {
	if l.open() {
		unix.Close(l.fd)
	}
	*l = noLine
}
