package socket

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
)

// A Raw holds the system calls for a non-blocking socket. Receive and Send return an error that Is
// Again if the socket has nothing to read, or accepts nothing now.
type Raw struct {
	Receive func(fd int, b []byte) (int, error) // 0 bytes: the end
	Send    func(fd int, b []byte) (int, error)
	Again   error
}

// A duct is the connection below crypto/tls. During the handshake it is the TCP connection and
// blocks in a goroutine. After Conn.Detach it never blocks: the calling thread encrypts and
// decrypts, and polls the socket as it would without TLS.
//
//	Read    returns the bytes that the socket has; if there are none, a temporary net.Error,
//	        after which crypto/tls keeps its part of a record
//	Write   fills a buffer, within the bound of Secure.Room, and cannot fail: after a
//	        failed write crypto/tls would never write again
type duct struct {
	*net.TCPConn
	polled atomic.Bool // set by Detach: the socket is fd and does not block
	raw    Raw
	fd     int
	out    []byte // encrypted
	sent   int    // bytes of out that the socket has accepted
	ended  bool   // the last Receive returned less than requested: the next one is skipped
	ahead  []byte // the part of first that crypto/tls has not read yet
	failed error  // the error of the read ahead
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

// look reads ahead, and reports whether crypto/tls has something to read.
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

// Secure encrypts and decrypts the bytes of a non-blocking socket. One goroutine at a time may call
// its methods.
type Secure struct {
	conn *tls.Conn
	duct *duct
	// drained is true if crypto/tls has returned everything that it could decrypt. Read then polls
	// the socket, not crypto/tls, which allocates for each Read without data.
	drained bool
}

const (
	pendingMax  = 256 << 10 // bound of the encrypted bytes in out
	recordBytes = 16 << 10  // plaintext bytes of a record
	recordExtra = 22        // overhead of a record: header, kind, tag
)

// Read returns decrypted bytes of at most one record, or Raw.Again if there are none. The caller
// must read until Raw.Again: decrypted bytes may be left when the socket has nothing more to read.
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

// Room returns the number of bytes that Write accepts now.
func (s *Secure) Room() int {
	free := pendingMax - (len(s.duct.out) - s.duct.sent)
	return max(free-recordExtra*(free/recordBytes+1), 0)
}

// Write encrypts b, of at most Room bytes, and keeps the result until Flush.
func (s *Secure) Write(b []byte) error {
	_, err := s.conn.Write(b)
	return err
}

// Flush sends encrypted bytes while the socket accepts them, and reports whether all are sent.
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

// Flushed reports whether all written bytes are sent.
func (s *Secure) Flushed() bool { return s.duct.sent == len(s.duct.out) }
