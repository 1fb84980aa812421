package socket

import (
	"bytes"
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func trust(t testing.TB, job uint64, first byte) *Trust {
	secret := make([]byte, SecretSize)
	secret[0] = first
	tr, err := NewTrust(job, secret)
	require.NoError(t, err)
	return tr
}

// meet runs a handshake between a dialer and a listener, and returns the errors of both.
func meet(t *testing.T, dialer, listener *Trust, dials, born uint64) (dialed, accepted error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	ends := make(chan error)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = listener.Accept(conn.(*net.TCPConn), born)
			conn.Close()
		}
		ends <- err
	}()
	conn, dialed := dialer.Dial(context.Background(), l.Addr().String(), dials)
	if dialed == nil {
		conn.Close()
	}
	return dialed, <-ends
}

func TestMembersMeet(t *testing.T) {
	inModes(t, func(t *testing.T, mode Mode) {
		dialed, accepted := meet(t, in(t, trust(t, 7, 1), mode), in(t, trust(t, 7, 1), mode), 3, 3)
		assert.NoError(t, dialed)
		assert.NoError(t, accepted)
	})
}

// inModes runs a test in each mode.
func inModes(t *testing.T, test func(t *testing.T, mode Mode)) {
	for _, mode := range [2]Mode{Auth, TLS} {
		t.Run(mode.String(), func(t *testing.T) { test(t, mode) })
	}
}

func in(t testing.TB, tr *Trust, mode Mode) *Trust {
	tr, err := tr.In(mode)
	require.NoError(t, err)
	return tr
}

// TestStrangersDoNot: a handshake fails with another secret, another job, or another process at
// that address.
func TestStrangersDoNot(t *testing.T) {
	inModes(t, func(t *testing.T, mode Mode) {
		for name, c := range map[string]struct {
			dialer *Trust
			dials  uint64
		}{"secret": {trust(t, 7, 2), 3}, "job": {trust(t, 8, 1), 3}, "process": {trust(t, 7, 1), 4}} {
			dialed, accepted := meet(t, in(t, c.dialer, mode), in(t, trust(t, 7, 1), mode), c.dials, 3)
			assert.ErrorContains(t, dialed, "as for a process of another job", name)
			assert.ErrorIs(t, accepted, ErrStranger, name)
		}
	})
}

// TestAListenerThatProvesNothing: a dialer refuses a listener whose proof is wrong.
func TestAListenerThatProvesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write(make([]byte, challengeSize+proofSize))
		}
	}()
	_, err = trust(t, 7, 1).Dial(context.Background(), l.Addr().String(), 3)
	assert.ErrorIs(t, err, ErrStranger)
}

// TestAReplayedHandshake: a recorded handshake is refused, because the proof for one challenge is
// invalid for another.
func TestAReplayedHandshake(t *testing.T) {
	tr := trust(t, 7, 1)
	preamble := tr.preamble(3, []byte{1, 2, 3, 4})
	recorded := append(bytes.Clone(preamble), tr.proof("dialer", preamble, make([]byte, challengeSize))...)
	assert.ErrorIs(t, admitClear(tr, &conversation{in: bytes.NewReader(recorded)}), ErrStranger)
}

// admitClear is the listener's part in mode Auth, for a member born as 3.
func admitClear(tr *Trust, c *conversation) error {
	preamble, err := tr.readPreamble(c, 3)
	if err != nil {
		return err
	}
	return tr.challenge(c, preamble)
}

// A conversation is a connection whose other end has already sent all its bytes.
type conversation struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (c *conversation) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c *conversation) Write(b []byte) (int, error) { return c.out.Write(b) }

// FuzzAdmit: a stranger is never admitted, and receives nothing before its preamble is valid.
func FuzzAdmit(f *testing.F) {
	tr := trust(f, 7, 1)
	good := tr.preamble(3, []byte{1, 2, 3, 4})
	f.Add(good)
	f.Add(append(bytes.Clone(good), make([]byte, proofSize)...))
	f.Fuzz(func(t *testing.T, said []byte) {
		c := &conversation{in: bytes.NewReader(said)}
		assert.Error(t, admitClear(tr, c))
		if len(said) < PreambleSize || tr.checkPreamble(said[:PreambleSize], 3) != nil {
			assert.Zero(t, c.out.Len())
		}
	})
}
