package socket

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// A Conn is a connection between two members of a job that have authenticated each other. It is an
// ordinary stream, encrypted in mode TLS. A caller that polls extracts the socket with Detach.
type Conn struct {
	net.Conn // the stream of the members: tcp or tls
	tcp      *net.TCPConn
	tls      *tls.Conn // nil: not encrypted
	duct     *duct
}

// Dial connects to the listener of a member that was born as birth, and returns the connection once
// both ends have proved their membership. In mode TLS, a refusal by the listener arrives only with
// the first Read.
func (t *Trust) Dial(ctx context.Context, addr string, birth uint64) (*Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	tcp := conn.(*net.TCPConn)
	_ = tcp.SetDeadline(time.Now().Add(shakeFor))
	c, err := t.greet(tcp, birth)
	if err != nil {
		tcp.Close()
		return nil, err
	}
	return c, tcp.SetDeadline(time.Time{})
}

// Accept performs the listener's part of the handshake, as a member born as birth. The caller must
// close conn after an error. Serve calls it for a listener, within bounds.
func (t *Trust) Accept(conn *net.TCPConn, birth uint64) (*Conn, error) {
	_ = conn.SetDeadline(time.Now().Add(shakeFor))
	preamble, err := t.readPreamble(conn, birth)
	if err != nil {
		return nil, err
	}
	c, err := t.admit(conn, preamble)
	if err != nil {
		return nil, err
	}
	return c, conn.SetDeadline(time.Time{})
}

// greet is the dialer's part of the handshake.
func (t *Trust) greet(tcp *net.TCPConn, birth uint64) (*Conn, error) {
	preamble := t.preamble(birth, randomBytes(4))
	if _, err := tcp.Write(preamble); err != nil {
		return nil, err
	}
	if t.mode == TLS {
		c, err := shake(tcp, func(d net.Conn) *tls.Conn { return tls.Client(d, t.security) })
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) { // a listener closes the connection silently if it refuses the preamble
			err = unanswered(err)
		}
		return c, err
	}
	return &Conn{Conn: tcp, tcp: tcp}, t.prove(tcp, preamble)
}

// admit is the listener's part of the handshake, after a valid preamble.
func (t *Trust) admit(tcp *net.TCPConn, preamble []byte) (*Conn, error) {
	if t.mode == TLS {
		return shake(tcp, func(d net.Conn) *tls.Conn { return tls.Server(d, t.security) })
	}
	return &Conn{Conn: tcp, tcp: tcp}, t.challenge(tcp, preamble)
}

// shake performs a TLS handshake over a connection.
func shake(tcp *net.TCPConn, end func(net.Conn) *tls.Conn) (*Conn, error) {
	d := &duct{TCPConn: tcp, fd: -1}
	c := end(d)
	return &Conn{Conn: c, tcp: tcp, tls: c, duct: d}, c.Handshake()
}
