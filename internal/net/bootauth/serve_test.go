package bootauth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// echo answers a request with its text behind "heard ".
func echo(request []byte) ([]byte, error) { return append([]byte("heard "), request...), nil }

// served runs a daemon on loopback until the test ends, and returns its address.
func served(t *testing.T, id *Identity, p Proof, answer func([]byte) ([]byte, error)) (addr string) {
	t.Helper()
	ln := listen(t)
	serving(t, ln, id, p, answer)
	return ln.Addr().String()
}

// serving runs a daemon on ln, until the returned function is called or the test ends.
func serving(t *testing.T, ln net.Listener, id *Identity, p Proof, answer func([]byte) ([]byte, error)) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, ln, id, p, answer) }()
	end = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	t.Cleanup(end)
	return end
}

// TestEachProof: a request is answered, once the two have proved themselves.
func TestEachProof(t *testing.T) {
	coordinator, other := identity(t), identity(t)
	for name, proofs := range map[string][2]Proof{
		"pinned": {Pinned(other.Key()), Pinned(coordinator.Key())},
		"munge":  {annsMunge(t, "k"), annsMunge(t, "k")},
		"secret": {Secret(file("a"), "k"), Secret(file("a"), "k")},
	} {
		t.Run(name, func(t *testing.T) {
			addr := served(t, coordinator, proofs[0], echo)
			for _, request := range []string{"", "join 3", "\x00\xff\r", strings.Repeat("x", RequestMax)} {
				got, err := Ask(t.Context(), []string{addr}, other, proofs[1], []byte(request))
				require.NoError(t, err)
				assert.Equal(t, "heard "+request, string(got))
			}
		})
	}
}

// TestManyAtATime: more diallers than places for strangers all get their answers.
func TestManyAtATime(t *testing.T) {
	p := Secret(file("a"), "k")
	addr := served(t, identity(t), p, echo)
	var all sync.WaitGroup
	for i := range 3 * strangersMax {
		all.Go(func() {
			id, err := NewIdentity()
			if !assert.NoError(t, err) {
				return
			}
			got, err := Ask(t.Context(), []string{addr}, id, p, fmt.Append(nil, i))
			assert.NoError(t, err)
			assert.Equal(t, fmt.Sprint("heard ", i), string(got))
		})
	}
	all.Wait()
}

// TestRefused: the dialler receives the reason, at once.
func TestRefused(t *testing.T) {
	p := Secret(file("a"), "k")
	for name, c := range map[string]struct {
		answer string
		err    error
		why    string
	}{
		"by an error":     {"not sent", errors.New("rank 3\nhas come already"), "rank 3 has come already"},
		"two lines":       {"a\nb", nil, "the answer cannot be sent: more than one line"},
		"too long":        {strings.Repeat("x", AnswerMax+1), nil, "the answer cannot be sent: 65537 bytes are more than 65536"},
		"an endless text": {"", errors.New(strings.Repeat("x", 1<<20)), strings.Repeat("x", reasonMax)},
	} {
		t.Run(name, func(t *testing.T) {
			addr := served(t, identity(t), p, func([]byte) ([]byte, error) { return []byte(c.answer), c.err })
			_, err := Ask(t.Context(), []string{addr}, identity(t), p, []byte("x"))
			require.ErrorIs(t, err, ErrRefused)
			assert.EqualError(t, err, addr+": refused: "+c.why)
		})
	}
	addr := served(t, identity(t), p, func([]byte) ([]byte, error) { return make([]byte, AnswerMax), nil })
	got, err := Ask(t.Context(), []string{addr}, identity(t), p, []byte("x"))
	require.NoError(t, err)
	assert.Len(t, got, AnswerMax, "the longest")
}

// TestStrangersAreNotHeard: answer is not called for a stranger, and the stranger receives the
// reason.
func TestStrangersAreNotHeard(t *testing.T) {
	coordinator, other := identity(t), identity(t)
	for name, c := range map[string]struct {
		coordinator, other Proof
		why                string
	}{
		"pinned": {Pinned(), Pinned(coordinator.Key()), "the other end says: the key"},
		"secret": {Secret(file("a"), "k"), Secret(file("b"), "k"), "the other end says: the other end does not know the secret"},
		"munge":  {annsMunge(t, "k"), annsMunge(t, "l"), "the other end says: munge: the credential of the other end is for another connection"},
		"broken": {Munge("k", ann, programs(t, "", decodes(ann, ""))), annsMunge(t, "k"), "the other end says: munge is not in "},
	} {
		t.Run(name, func(t *testing.T) {
			addr := served(t, coordinator, c.coordinator, func([]byte) ([]byte, error) {
				assert.Fail(t, "heard")
				return nil, nil
			})
			a := asker{id: other, proof: c.other, request: []byte("x"), dial: overTCP}
			_, err := a.attempt(t.Context(), addr)
			assert.ErrorContains(t, err, c.why)
			assert.NotErrorIs(t, err, ErrRefused)
		})
	}
}

func overTCP(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// TestRequestTooLong: such a request is not passed to answer.
func TestRequestTooLong(t *testing.T) {
	id := identity(t)
	addr := served(t, id, Pinned(id.Key()), func([]byte) ([]byte, error) {
		assert.Fail(t, "heard")
		return nil, nil
	})
	conn, err := overTCP(t.Context(), addr)
	require.NoError(t, err)
	secure, _, err := id.handshake(t.Context(), conn, false)
	require.NoError(t, err)
	defer secure.Close()
	_, err = secure.Write([]byte(strings.Repeat("x", RequestMax+1)))
	require.NoError(t, err)
	said, err := io.ReadAll(secure)
	require.NoError(t, err)
	assert.Equal(t, "failed request: more than 4096 bytes in a line\n", string(said))
}

// TestGarbage: whatever strangers send, a daemon gets its answer between them.
func TestGarbage(t *testing.T) {
	p := Secret(file("a"), "k")
	addr := served(t, identity(t), p, echo)
	for i := range 100 {
		conn, err := overTCP(t.Context(), addr)
		require.NoError(t, err)
		_, _ = conn.Write([][]byte{nil, []byte("GET / HTTP/1.0\r\n\r\n"), {0x16, 3, 1, 0xff, 0xff}, make([]byte, 1<<16)}[i%4])
		conn.Close()
		if i%10 == 0 {
			_, err := Ask(t.Context(), []string{addr}, identity(t), p, []byte("x"))
			require.NoError(t, err)
		}
	}
}

// A pipes is a listener in virtual time.
type pipes struct {
	come   chan net.Conn
	closed chan struct{}
	close  func()
	fails  chan error
}

func newPipes() *pipes {
	closed := make(chan struct{})
	return &pipes{make(chan net.Conn), closed, sync.OnceFunc(func() { close(closed) }), make(chan error)}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.come:
		return conn, nil
	case err := <-p.fails:
		return nil, err
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// dial returns a connection once it is accepted.
func (p *pipes) dial(ctx context.Context, _ string) (net.Conn, error) {
	mine, its := net.Pipe()
	select {
	case p.come <- its:
		return mine, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// closedAfter returns how long the other end leaves a connection open.
func closedAfter(conn io.Reader) time.Duration {
	since := time.Now()
	_, _ = io.Copy(io.Discard, conn)
	return time.Since(since)
}

// TestStrangersHaveTenSeconds: with a handshake or without.
func TestStrangersHaveTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln, id := newPipes(), identity(t)
		end := serving(t, ln, identity(t), Secret(file("a"), "k"), echo)
		conn, err := ln.dial(t.Context(), "")
		require.NoError(t, err)
		assert.Equal(t, strangerFor, closedAfter(conn))
		conn, err = ln.dial(t.Context(), "")
		require.NoError(t, err)
		secure, _, err := id.handshake(t.Context(), conn, false)
		require.NoError(t, err)
		said, err := io.ReadAll(secure)
		require.NoError(t, err)
		assert.Equal(t, "failed not within 10s\n", string(said))
		secure.Close()
		end()
	})
}

// TestSilentOnesMakeRoom: a daemon gets its answer even if silent connections occupy all places.
func TestSilentOnesMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln, p := newPipes(), Secret(file("a"), "k")
		end := serving(t, ln, identity(t), p, echo)
		for range strangersMax {
			conn, err := ln.dial(t.Context(), "")
			require.NoError(t, err)
			defer conn.Close()
		}
		since := time.Now()
		a := asker{id: identity(t), proof: p, request: []byte("x"), dial: ln.dial}
		_, err := a.ask(t.Context(), []string{"coordinator"})
		require.NoError(t, err)
		assert.Less(t, time.Since(since), 2*silentFor)
		end()
	})
}

// TestThoseWhoShookHandsStay: they keep their places for their full time, even if others wait.
func TestThoseWhoShookHandsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln, id := newPipes(), identity(t)
		end := serving(t, ln, identity(t), Secret(file("a"), "k"), echo)
		since := time.Now()
		for range strangersMax {
			conn, err := ln.dial(t.Context(), "")
			require.NoError(t, err)
			_, _, err = id.handshake(t.Context(), conn, false)
			require.NoError(t, err)
			defer conn.Close()
		}
		conn, err := ln.dial(t.Context(), "")
		require.NoError(t, err)
		conn.Close()
		assert.GreaterOrEqual(t, time.Since(since), strangerFor)
		assert.LessOrEqual(t, time.Since(since), strangerFor+partFor+hurryEvery)
		end()
	})
}

// TestServeEnds: with its context, even with open connections, and with its listener.
func TestServeEnds(t *testing.T) {
	p := Secret(file("a"), "k")
	ln := listen(t)
	end := serving(t, ln, identity(t), p, echo)
	silent, err := overTCP(t.Context(), ln.Addr().String())
	require.NoError(t, err)
	made, err := tls.Dial("tcp", ln.Addr().String(), identity(t).config(new([32]byte)))
	require.NoError(t, err)
	end()
	closedAfter(silent)
	closedAfter(made)
	_, err = overTCP(t.Context(), ln.Addr().String())
	assert.Error(t, err, "nobody listens")

	other := listen(t)
	other.Close()
	assert.ErrorIs(t, Serve(t.Context(), other, identity(t), p, echo), net.ErrClosed)
}

// TestAcceptFails: Serve accepts again.
func TestAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln, p := newPipes(), Secret(file("a"), "k")
		end := serving(t, ln, identity(t), p, echo)
		for range 2 * strangersMax {
			ln.fails <- errors.New("too many open files")
		}
		a := asker{id: identity(t), proof: p, request: []byte("x"), dial: ln.dial}
		_, err := a.ask(t.Context(), []string{"coordinator"})
		assert.NoError(t, err)
		end()
	})
}
