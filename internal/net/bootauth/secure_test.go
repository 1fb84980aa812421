package bootauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func identity(t testing.TB) *Identity {
	t.Helper()
	id, err := NewIdentity()
	require.NoError(t, err)
	return id
}

// loopback returns the two ends of a connection over TCP.
func loopback(t *testing.T) (dialled, accepted net.Conn) {
	t.Helper()
	ln := listen(t)
	defer ln.Close()
	dialled, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	accepted, err = ln.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { dialled.Close(); accepted.Close() })
	return dialled, accepted
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	return ln
}

func TestIdentitiesDiffer(t *testing.T) {
	a, b := identity(t), identity(t)
	assert.NotEqual(t, a.Key(), b.Key())
	leaf, err := x509.ParseCertificate(a.cert.Certificate[0])
	require.NoError(t, err)
	assert.Equal(t, sha256.Sum256(leaf.RawSubjectPublicKeyInfo), a.Key())
}

// TestHandshakeTellsKeys: each end learns the hash of the other's key.
func TestHandshakeTellsKeys(t *testing.T) {
	a, b := identity(t), identity(t)
	dialled, accepted := loopback(t)
	type end struct {
		state tls.ConnectionState
		peer  [32]byte
		err   error
	}
	shake := func(id *Identity, conn net.Conn, accepting bool) (e end) {
		secure, peer, err := id.handshake(t.Context(), conn, accepting)
		if err != nil {
			return end{err: err}
		}
		return end{secure.ConnectionState(), peer, nil}
	}
	other := make(chan end, 1)
	go func() { other <- shake(b, accepted, true) }()
	mine := shake(a, dialled, false)
	its := <-other
	require.NoError(t, mine.err)
	require.NoError(t, its.err)
	assert.Equal(t, b.Key(), mine.peer)
	assert.Equal(t, a.Key(), its.peer)
	assert.EqualValues(t, tls.VersionTLS13, mine.state.Version)
	assert.False(t, mine.state.DidResume)
}

// TestHandshakeRefuses: a listener refuses all but TLS 1.3 with a certificate of Ed25519.
func TestHandshakeRefuses(t *testing.T) {
	id := identity(t)
	for name, c := range map[string]struct {
		config *tls.Config
		why    string
	}{
		"no certificate": {&tls.Config{}, "certificate"},
		"TLS 1.2":        {&tls.Config{MaxVersion: tls.VersionTLS12, Certificates: []tls.Certificate{id.cert}}, "version"},
		"another kind":   {&tls.Config{Certificates: []tls.Certificate{ecdsaCertificate(t)}}, "it is no daemon of ours"},
	} {
		t.Run(name, func(t *testing.T) {
			dialled, accepted := loopback(t)
			c.config.InsecureSkipVerify = true
			go func() {
				client := tls.Client(dialled, c.config)
				_ = client.Handshake()
				_, _ = client.Read(make([]byte, 1)) // the alert
				client.Close()
			}()
			_, _, err := id.handshake(t.Context(), accepted, true)
			assert.ErrorContains(t, err, c.why)
		})
	}
}

func ecdsaCertificate(t *testing.T) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestHandshakeEndsWithItsContext(t *testing.T) {
	_, accepted := loopback(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := identity(t).handshake(ctx, accepted, true)
	assert.ErrorIs(t, err, context.Canceled)
}
