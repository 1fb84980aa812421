package socket

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
)

// A Raw is how a socket is used that never blocks: each is a system call. An error for which again
// holds says that nothing is there, or that the socket takes nothing now.
type Raw struct {
	Receive func(fd int, b []byte) (int, error) // 0 bytes: the end
	Send    func(fd int, b []byte) (int, error)
	Again   error
}

// A duct is what crypto/tls takes for its connection. Up to the handshake it is that connection,
// and blocks in a goroutine. From Conn.Detach on it never blocks: the calling thread encrypts and
// decrypts itself, and polls the socket as it would without TLS.
//
//	Read    gives what the socket has; if that is nothing, a temporary net.Error, after which
//	        crypto/tls keeps the part of a record that it has
//	Write   fills a buffer for which Secure.Room was asked before, and cannot fail: after a
//	        failed write crypto/tls would never write again
type duct struct {
	*net.TCPConn
	polled atomic.Bool // the socket is fd, and never blocks
	raw    Raw
	fd     int
	out    []byte // encrypted
	sent   int    // of it
	ended  bool   // the last Receive had less than was asked for: the next one is left out
	ahead  []byte // of first, what crypto/tls has not got yet
	failed error  // by the read ahead
	first  [4 << 10]byte
}

// nothing is a net.Error.
type nothing struct{}

func (nothing) Error() string   { return "nothing is there" }
func (nothing) Timeout() bool   { return true }
func (nothing) Temporary() bool { return true }

var errNothing net.Error = nothing{}

func (d *duct) Read(b []byte) (int, error) {
	if !d.polled.Load() {
		return d.TCPConn.Read(b)
	}
	if len(d.ahead) > 0 {
		n := copy(b, d.ahead)
		d.ahead = d.ahead[n:]
		return n, nil
	}
	if d.failed != nil {
		return 0, d.failed
	}
	return d.receive(b)
}

func (d *duct) receive(b []byte) (int, error) {
	if d.ended {
		d.ended = false
		return 0, errNothing
	}
	n, err := d.raw.Receive(d.fd, b)
	switch {
	case errors.Is(err, d.raw.Again):
		return 0, errNothing
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	d.ended = n < len(b)
	return n, nil
}

// look reads ahead, and says whether there is something for crypto/tls to read.
func (d *duct) look() bool {
	if len(d.ahead) == 0 && d.failed == nil {
		n, err := d.receive(d.first[:])
		if errors.Is(err, errNothing) {
			return false
		}
		d.ahead, d.failed = d.first[:n], err
	}
	return true
}

func (d *duct) Write(b []byte) (int, error) {
	if !d.polled.Load() {
		return d.TCPConn.Write(b)
	}
	if d.sent > 0 {
		d.out, d.sent = d.out[:copy(d.out, d.out[d.sent:])], 0
	}
	d.out = append(d.out, b...)
	return len(b), nil
}

// Secure encrypts what goes over a socket that never blocks. Its methods are called by one
// goroutine at a time.
type Secure struct {
	conn *tls.Conn
	duct *duct
	// drained says that crypto/tls has given all that it could. Who polls asks the socket then, and
	// not crypto/tls, which allocates for each Read that has to ask.
	drained bool
}

const (
	pendingMax  = 256 << 10 // encrypted bytes that are kept
	recordBytes = 16 << 10  // of what is encrypted, in a record
	recordExtra = 22        // what a record has beside: header, kind, tag
)

// Read returns what has come, up to a record; Raw.Again: nothing is there. Until then the socket
// may have nothing more to read, and yet there is something here.
func (s *Secure) Read(b []byte) (int, error) {
	if s.drained && !s.duct.look() {
		return 0, s.duct.raw.Again
	}
	n, err := s.conn.Read(b)
	if s.drained = err != nil && errors.Is(err, errNothing); s.drained {
		err = s.duct.raw.Again
	}
	return n, err
}

// Room returns how many bytes may be written now.
func (s *Secure) Room() int {
	free := pendingMax - (len(s.duct.out) - s.duct.sent)
	return max(free-recordExtra*(free/recordBytes+1), 0)
}

// Write encrypts b, of at most Room bytes, and keeps it until Flush.
func (s *Secure) Write(b []byte) error {
	_, err := s.conn.Write(b)
	return err
}

// Flush sends what was encrypted, as far as the socket takes it, and says whether all is sent.
func (s *Secure) Flush() (all bool, err error) {
	d := s.duct
	for d.sent < len(d.out) {
		n, err := d.raw.Send(d.fd, d.out[d.sent:])
		if err != nil {
			return false, err
		}
		d.sent += n
	}
	return true, nil
}

// Flushed says whether all that was written is sent.
func (s *Secure) Flushed() bool { return s.duct.sent == len(s.duct.out) }
