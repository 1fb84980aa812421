package link

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// street is a listener for connections that a test makes.
type street struct{ arriving chan net.Conn }

func (s street) Accept() (net.Conn, error) { return <-s.arriving, nil }
func (s street) Close() error              { return nil }
func (s street) Addr() net.Addr            { return nil }

// from is a connection of an address.
type from struct {
	net.Conn
	addr string
}

func (f from) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(f.addr), Port: 1}
}

// visit connects to a door, and returns both ends.
func (s street) visit(t *testing.T, d net.Listener, addr string) (guest, visitor net.Conn) {
	a, b := net.Pipe()
	go func() { s.arriving <- from{a, addr} }()
	c, err := d.Accept()
	assert.NoError(t, err)
	t.Cleanup(func() { c.Close(); b.Close() })
	return c, b
}

// isOpen reports whether the other end of a connection is open.
func isOpen(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// TestStrangers, in virtual time: connections that prove nothing are closed after proveWithin, and
// one without a certificate after enrollWithin; proven ones stay.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := street{make(chan net.Conn)}
		d := Door(s)
		_, silent := s.visit(t, d, "10.0.0.1")
		member, known := s.visit(t, d, "10.0.0.1")
		proven(member, true)
		joiner, unknown := s.visit(t, d, "10.0.0.1")
		proven(joiner, false)
		time.Sleep(proveWithin - time.Millisecond)
		assert.True(t, isOpen(silent))
		time.Sleep(2 * time.Millisecond)
		assert.False(t, isOpen(silent))
		assert.True(t, isOpen(unknown))
		time.Sleep(enrollWithin)
		assert.False(t, isOpen(unknown))
		assert.True(t, isOpen(known))
	})
}

// TestStrangersOfOneAddress: one address may have perAddressMax silent connections. Then the oldest
// one is closed, but no connection that has begun its handshake, and none of another address.
func TestStrangersOfOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := street{make(chan net.Conn)}
		d := Door(s)
		_, other := s.visit(t, d, "10.0.0.2")
		begun, shaking := s.visit(t, d, "10.0.0.1")
		go func() { _, _ = shaking.Write([]byte{1}) }()
		_, err := begun.Read(make([]byte, 1))
		assert.NoError(t, err)
		_, first := s.visit(t, d, "10.0.0.1")
		_, second := s.visit(t, d, "10.0.0.1")
		for range perAddressMax - 2 {
			s.visit(t, d, "10.0.0.1")
		}
		assert.True(t, isOpen(first))
		s.visit(t, d, "10.0.0.1")
		assert.False(t, isOpen(first))
		for _, c := range []net.Conn{other, shaking, second} {
			assert.True(t, isOpen(c))
		}
	})
}

// TestStrangersOfManyAddresses: at most guestsMax connections are unproven. A further one replaces
// a silent one of its own address, or is closed.
func TestStrangersOfManyAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := street{make(chan net.Conn)}
		d := Door(s)
		for i := range guestsMax {
			s.visit(t, d, net.IPv4(10, 1, byte(i/256), byte(i)).String())
		}
		a, closed := net.Pipe()
		b, welcome := net.Pipe()
		go func() { s.arriving <- from{a, "10.0.0.1"}; s.arriving <- from{b, "10.1.0.0"} }()
		c, err := d.Accept()
		assert.NoError(t, err)
		assert.False(t, isOpen(closed))
		assert.True(t, isOpen(welcome))
		c.Close()
	})
}
