package tcp

import (
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/session"
	"golang.org/x/sys/unix"
)

// A line is a socket that never blocks, clear or encrypted.
type line struct {
	fd     int            // -1: closed
	secure *socket.Secure // nil: what goes over it is clear
}

var noLine = line{fd: -1}

func (l *line) open() bool { return l.fd >= 0 }

// read returns what has come; EAGAIN: nothing has; 0 bytes: the peer has closed it.
func (l *line) read(b []byte) (int, error) {
	if l.secure != nil {
		return l.secure.Read(b)
	}
	return receive(l.fd, b)
}

// write writes what the line takes of b. An encrypted line keeps some of it until flush.
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

// say sends a hello. A fresh socket has room for it; a broken one is readable.
func (l *line) say(h session.Hello) {
	_, _ = l.write(h.Append(nil))
	_, _ = l.flush()
}

// flush sends what the line has taken and the socket has not, and says whether that is all.
func (l *line) flush() (all bool, err error) {
	if l.secure == nil {
		return true, nil
	}
	return l.secure.Flush()
}

// flushed says whether the socket has all that the line has taken.
func (l *line) flushed() bool { return l.secure == nil || l.secure.Flushed() }

func (l *line) close() {
	if l.open() {
		unix.Close(l.fd)
	}
	*l = noLine
}
