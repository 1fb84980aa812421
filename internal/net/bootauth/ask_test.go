package bootauth

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAskGoesRound: past addresses without a listener, and with another service.
func TestAskGoesRound(t *testing.T) {
	p := Secret(file("a"), "k")
	nobody := listen(t)
	nobody.Close()
	other := listen(t)
	go func() {
		for conn, err := other.Accept(); err == nil; conn, err = other.Accept() {
			_, _ = conn.Write([]byte("SSH-2.0-other\r\n"))
			conn.Close()
		}
	}()
	foreign := served(t, identity(t), Secret(file("a"), "another start"), echo)
	addrs := []string{nobody.Addr().String(), other.Addr().String(), foreign, "no port", served(t, identity(t), p, echo)}
	got, err := Ask(t.Context(), addrs, identity(t), p, []byte("x"))
	require.NoError(t, err)
	assert.Equal(t, "heard x", string(got))
}

// TestUnanswered: the error names each address and its last error.
func TestUnanswered(t *testing.T) {
	p := Secret(file("a"), "k")
	nobody := listen(t)
	nobody.Close()
	foreign := served(t, identity(t), Secret(file("b"), "k"), echo)
	cause := errors.New("the start was given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	rounds := 0
	a := asker{id: identity(t), proof: p, request: []byte("x"), dial: func(ctx context.Context, addr string) (net.Conn, error) {
		if rounds++; rounds == 4 { // the second address, for the second time
			cancel(cause)
		}
		return overTCP(ctx, addr)
	}}
	_, err := a.ask(ctx, []string{nobody.Addr().String(), foreign, "none"})
	require.ErrorIs(t, err, cause)
	assert.ErrorContains(t, err, "nobody has answered: the start was given up ("+nobody.Addr().String()+": connect: connection refused; "+foreign+": the other end says: the other end does not know the secret")
	assert.ErrorContains(t, err, "none: dial tcp: address none: missing port in address")
	assert.NotContains(t, err.Error(), "\n")
}

func TestAskOfNoUse(t *testing.T) {
	id := identity(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Ask(ctx, []string{"127.0.0.1:1", "127.0.0.1:2"}, id, Pinned(), nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "127.0.0.1:2: not tried")
	_, err = Ask(t.Context(), nil, id, Pinned(), nil)
	assert.EqualError(t, err, "no address to ask")
	_, err = Ask(t.Context(), []string{"127.0.0.1:1"}, id, Pinned(), []byte("a\nb"))
	assert.EqualError(t, err, "request: more than one line")
	_, err = Ask(t.Context(), []string{"127.0.0.1:1"}, id, Pinned(), []byte(strings.Repeat("x", RequestMax+1)))
	assert.EqualError(t, err, "request: 4097 bytes are more than 4096")
}

// TestPauses: 50 ms after the first round, doubling to a second.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		since := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		a := asker{id: identity(t), proof: Pinned(), dial: func(context.Context, string) (net.Conn, error) {
			at = append(at, time.Since(since).Round(time.Millisecond))
			since = time.Now()
			if len(at) == 8 {
				cancel()
			}
			return nil, errors.New("nobody")
		}}
		_, err := a.ask(ctx, []string{"coordinator"})
		require.ErrorIs(t, err, context.Canceled)
		const ms = time.Millisecond
		assert.Equal(t, []time.Duration{0, 50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1000 * ms, 1000 * ms}, at)
	})
}

// TestOneThatHangs: an address that never responds costs a bounded time.
func TestOneThatHangs(t *testing.T) {
	listener := identity(t)
	for name, c := range map[string]struct {
		limit time.Duration
		why   string
		dial  func(ctx context.Context, addr string) (net.Conn, error)
	}{
		"while connecting": {connectFor, "no connection within 2s", func(ctx context.Context, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
		"in the handshake": {handshakeFor, "not within 5s", func(context.Context, string) (net.Conn, error) {
			mine, _ := net.Pipe()
			return mine, nil
		}},
		"in the proof": {proveFor, "not within 10s", func(context.Context, string) (net.Conn, error) {
			mine, its := net.Pipe()
			go func() { _, _, _ = listener.handshake(context.Background(), its, true) }()
			return mine, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				since := time.Now()
				a := asker{id: identity(t), proof: Secret(file("a"), "k"), dial: c.dial}
				_, err := a.attempt(t.Context(), "coordinator")
				assert.ErrorContains(t, err, c.why)
				assert.LessOrEqual(t, time.Since(since).Round(time.Second), c.limit+5*time.Second) // TLS takes five seconds to close
			})
		})
	}
}

// TestAnswerThatHangs: the coordinator may be stopped after it has proved itself.
func TestAnswerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln, p := newPipes(), Secret(file("a"), "k")
		goOn := make(chan struct{})
		end := serving(t, ln, identity(t), p, func([]byte) ([]byte, error) { <-goOn; return nil, nil })
		since := time.Now()
		a := asker{id: identity(t), proof: p, request: []byte("x"), dial: ln.dial}
		_, err := a.attempt(t.Context(), "coordinator")
		assert.ErrorContains(t, err, "not within 10s")
		assert.Equal(t, answerFor, time.Since(since))
		close(goOn)
		end()
	})
}
