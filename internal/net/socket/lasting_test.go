package socket_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/faultproxy"
	"github.com/goulfm/goulfm/internal/net/socket"
)

// lastingPair returns both ends of a stream whose connections use a relay.
func lastingPair(t *testing.T, mode socket.Mode, plan faultproxy.Plan) (dialer, listener *socket.Lasting, r *faultproxy.Relay, stop func()) {
	trust, err := socket.NewTrust(1, make([]byte, socket.SecretSize))
	require.NoError(t, err)
	trust, err = trust.In(mode)
	require.NoError(t, err)
	at, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	var streams socket.Lastings
	begun := make(chan *socket.Lasting, 1)
	go trust.Serve(at, 5, func(c *socket.Conn) {
		if l := streams.Admit(c, func(*socket.Lasting) {}); l != nil {
			begun <- l
		}
	})
	r, err = faultproxy.New(at.Addr().String(), plan)
	require.NoError(t, err)
	dialer, err = trust.DialLasting(context.Background(), r.Addr(), 5) // no plan here cuts the first exchange
	require.NoError(t, err)
	first := []byte("first")
	_, err = dialer.Write(first)
	require.NoError(t, err)
	listener = <-begun
	got := make([]byte, len(first))
	_, err = io.ReadFull(listener, got)
	require.NoError(t, err)
	require.Equal(t, first, got)
	stop = func() { r.Close(); at.Close() }
	t.Cleanup(func() { stop(); dialer.Close(); listener.Close() })
	return dialer, listener, r, stop
}

// TestLastingOverCuts: all bytes arrive once and in order in both directions, while each connection
// breaks after 10,000 to 100,000 bytes.
func TestLastingOverCuts(t *testing.T) {
	for _, mode := range []socket.Mode{socket.Auth, socket.TLS} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			dialer, listener, r, _ := lastingPair(t, mode, faultproxy.Random(7, 10_000, 100_000, faultproxy.Cut, faultproxy.End))
			var both sync.WaitGroup
			for seed, way := range [][2]*socket.Lasting{{dialer, listener}, {listener, dialer}} {
				data := make([]byte, 3<<20)
				rng := rand.NewChaCha8([32]byte{byte(seed)})
				_, _ = rng.Read(data)
				both.Go(func() {
					for at := 0; at < len(data); at += 1000 {
						_, err := way[0].Write(data[at:min(at+1000, len(data))])
						assert.NoError(t, err)
					}
				})
				both.Go(func() {
					got := make([]byte, len(data))
					_, err := io.ReadFull(way[1], got)
					assert.NoError(t, err)
					assert.True(t, bytes.Equal(data, got))
				})
			}
			both.Wait()
			done := r.Stats().Done
			t.Logf("%d connections were broken", done[faultproxy.Cut]+done[faultproxy.End])
			assert.Greater(t, done[faultproxy.Cut]+done[faultproxy.End], 10)
		})
	}
}

// TestLastingEnds: a dialer learns that its peer has closed the stream, or has ended.
func TestLastingEnds(t *testing.T) {
	end := make([]byte, 1)
	t.Run("closed", func(t *testing.T) {
		dialer, listener, _, _ := lastingPair(t, socket.Auth, nil)
		listener.Close()
		_, err := dialer.Read(end)
		assert.ErrorIs(t, err, socket.ErrOver)
		_, err = listener.Read(end)
		assert.ErrorIs(t, err, net.ErrClosed)
	})
	t.Run("gone", func(t *testing.T) {
		dialer, _, _, stop := lastingPair(t, socket.Auth, nil)
		stop()
		_, err := dialer.Read(end)
		assert.ErrorContains(t, err, "refused")
	})
	t.Run("late", func(t *testing.T) {
		dialer, _, _, _ := lastingPair(t, socket.Auth, nil)
		require.NoError(t, dialer.SetReadDeadline(time.Now()))
		_, err := dialer.Read(end)
		assert.ErrorContains(t, err, "timeout")
	})
}
