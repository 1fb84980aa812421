package socket

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestRecordedPreambleWithoutTheKey: a recorded preamble starts a handshake. The handshake fails
// with another key and without a key.
func TestRecordedPreambleWithoutTheKey(t *testing.T) {
	tr, other := in(t, trust(t, 7, 1), TLS), in(t, trust(t, 7, 2), TLS)
	without := other.security.Clone()
	without.Certificates = nil
	for name, config := range map[string]*tls.Config{"another key": other.security, "no key": without} {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		config = config.Clone()
		config.VerifyConnection = nil // the stranger accepts any peer
		go func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = c.Write(tr.preamble(3, []byte{1, 2, 3, 4}))
			_, _ = tls.Client(c, config).Read(make([]byte, 1))
		}()
		c, err := l.AcceptTCP()
		require.NoError(t, err)
		_, err = tr.Accept(c, 3)
		assert.Error(t, err, name)
		assert.Equal(t, name == "another key", errors.Is(err, ErrStranger), "%s: %v", name, err)
		c.Close()
		l.Close()
	}
}

// TestAListenerWithAnotherKey: a dialer refuses a listener with another key.
func TestAListenerWithAnotherKey(t *testing.T) {
	tr, other := in(t, trust(t, 7, 1), TLS), in(t, trust(t, 7, 2), TLS)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.ReadFull(c, make([]byte, PreambleSize))
		_ = tls.Server(c, other.security).Handshake()
	}()
	_, err = tr.Dial(context.Background(), l.Addr().String(), 3)
	assert.ErrorIs(t, err, ErrStranger)
}

// TestModesDoNotMix: the handshake fails between different modes, and the listener's error names
// both.
func TestModesDoNotMix(t *testing.T) {
	tr := trust(t, 7, 1)
	_, accepted := meet(t, in(t, tr, TLS), in(t, tr, Auth), 3, 3)
	assert.ErrorContains(t, accepted, "it has --secure tls, this process auth")
	_, err := tr.In(7)
	assert.Error(t, err)
	_, err = ParseMode("none")
	assert.Error(t, err)
	for _, mode := range [2]Mode{Auth, TLS} {
		parsed, err := ParseMode(mode.String())
		assert.NoError(t, err)
		assert.Equal(t, mode, parsed)
	}
}

var raw = Raw{
	Receive: func(fd int, b []byte) (int, error) { return unix.Read(fd, b) },
	Send:    func(fd int, b []byte) (int, error) { return unix.Write(fd, b) },
	Again:   unix.EAGAIN,
}

// detached returns both ends of a TLS connection with non-blocking sockets.
func detached(t *testing.T) (ends [2]*Secure, fds [2]int) {
	tr := in(t, trust(t, 7, 1), TLS)
	addr, admitted := served(t, tr)
	dialed, err := tr.Dial(context.Background(), addr, 3)
	require.NoError(t, err)
	for i, c := range [2]*Conn{dialed, <-admitted} {
		fds[i], ends[i], err = c.Detach(raw)
		require.NoError(t, err)
		t.Cleanup(func() { unix.Close(fds[i]) })
	}
	return ends, fds
}

// TestSecureNeverBlocks: Read without data returns Again. Bytes that the socket does not accept are
// kept, within bounds. All bytes arrive.
func TestSecureNeverBlocks(t *testing.T) {
	ends, fds := detached(t)
	buf := make([]byte, 100_000)
	_, err := ends[1].Read(buf)
	require.ErrorIs(t, err, unix.EAGAIN)

	var said, heard bytes.Buffer
	for i := byte(0); ; i++ { // until neither the socket nor the buffer accepts more
		piece := bytes.Repeat([]byte{i}, min(50_000, ends[0].Room()))
		require.NoError(t, ends[0].Write(piece))
		said.Write(piece)
		_, err := ends[0].Flush()
		assert.LessOrEqual(t, len(ends[0].duct.out)-ends[0].duct.sent, pendingMax)
		if errors.Is(err, unix.EAGAIN) && ends[0].Room() == 0 {
			break
		}
	}
	assert.False(t, ends[0].Flushed())
	for heard.Len() < said.Len() {
		n, err := ends[1].Read(buf)
		if errors.Is(err, unix.EAGAIN) {
			_, err = ends[0].Flush()
			if !errors.Is(err, unix.EAGAIN) {
				require.NoError(t, err)
			}
			continue
		}
		require.NoError(t, err)
		heard.Write(buf[:n])
	}
	assert.True(t, bytes.Equal(said.Bytes(), heard.Bytes()))
	assert.True(t, ends[0].Flushed())

	require.NoError(t, unix.Shutdown(fds[0], unix.SHUT_WR))
	_, err = ends[1].Read(buf)
	for errors.Is(err, unix.EAGAIN) {
		_, err = ends[1].Read(buf)
	}
	assert.Error(t, err)
}

// TestARecordInPieces: a record that arrives one byte at a time is read like a whole one.
func TestARecordInPieces(t *testing.T) {
	ends, _ := detached(t)
	whole := ends[0].duct.raw
	ends[0].duct.raw.Send = func(fd int, b []byte) (int, error) { return whole.Send(fd, b[:1]) }
	buf := make([]byte, 10)
	require.NoError(t, ends[0].Write([]byte("record")))
	for d := ends[0].duct; d.sent < len(d.out); {
		_, err := ends[1].Read(buf)
		require.ErrorIs(t, err, unix.EAGAIN)
		n, err := d.raw.Send(d.fd, d.out[d.sent:])
		require.NoError(t, err)
		d.sent += n
	}
	n, err := ends[1].Read(buf)
	for errors.Is(err, unix.EAGAIN) {
		n, err = ends[1].Read(buf)
	}
	require.NoError(t, err)
	assert.Equal(t, "record", string(buf[:n]))
}

// TestAllocations: the read of a record costs two small allocations of crypto/tls and no buffer; a
// Read without data costs none.
func TestAllocations(t *testing.T) {
	ends, _ := detached(t)
	buf := make([]byte, 10_000)
	allocations := testing.AllocsPerRun(200, func() {
		_ = ends[0].Write(buf[:5000])
		_, _ = ends[0].Flush()
		for got := 0; got < 5000; {
			n, _ := ends[1].Read(buf)
			got += n
		}
	})
	assert.LessOrEqual(t, allocations, 4.0)
	assert.Zero(t, testing.AllocsPerRun(200, func() { _, _ = ends[1].Read(buf) }), "nothing is there")
}
