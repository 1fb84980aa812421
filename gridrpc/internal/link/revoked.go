package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"

	"github.com/goulfm/goulfm/gridrpc/internal/token"
)

// ErrRevoked reports that the other side was admitted by a token that was revoked.
var ErrRevoked = errors.New("its token was revoked")

// outcasts holds the revoked keys, and the open connections of the process, so that those with a
// revoked key can be closed.
type outcasts struct {
	mu    sync.Mutex
	keys  map[token.Hash]bool // of public keys
	addrs map[string]bool     // addresses at which a revoked process was found
	open  map[*known]bool
}

// known is a connection whose other side has shown a certificate.
type known struct {
	net.Conn
	all  *outcasts
	cert *x509.Certificate
	addr string // the dialled address; "": the other side has dialled
}

func keyOf(cert *x509.Certificate) token.Hash { return token.HashOf(cert.RawSubjectPublicKeyInfo) }

// Close ends the connection.
func (k *known) Close() error {
	k.all.mu.Lock()
	delete(k.all.open, k)
	k.all.mu.Unlock()
	return k.Conn.Close()
}

// Revoke closes the open connections with these keys, refuses later ones, and returns the names of
// the closed ones. Keys of an earlier list that are not in this one are accepted again.
func (id *Identity) Revoke(keys []token.Hash) (closed []string) {
	o := &id.outcasts
	o.mu.Lock()
	o.keys = map[token.Hash]bool{}
	for _, key := range keys {
		o.keys[key] = true
	}
	var theirs []*known
	for k := range o.open {
		if o.keys[keyOf(k.cert)] {
			theirs = append(theirs, k)
			o.found(k.addr)
		}
	}
	o.mu.Unlock()
	named := map[string]bool{}
	for _, k := range theirs {
		go HangUp(k) // may wait for a while, for the alert to the other side
		if role, name, err := SubjectOf(k.cert); err == nil && !named[name] {
			named[name] = true
			closed = append(closed, fmt.Sprintf("%s %s", role, name))
		}
	}
	return closed
}

// Revoked returns the revoked keys.
func (id *Identity) Revoked() (keys []token.Hash) {
	id.outcasts.mu.Lock()
	defer id.outcasts.mu.Unlock()
	for key := range id.outcasts.keys {
		keys = append(keys, key)
	}
	return keys
}

// IsOutcast reports whether the process that was last found at a dialled address is revoked.
func (id *Identity) IsOutcast(addr string) bool {
	id.outcasts.mu.Lock()
	defer id.outcasts.mu.Unlock()
	return id.outcasts.addrs[addr]
}

// found records the address of a revoked process. The caller holds mu.
func (o *outcasts) found(addr string) {
	if addr == "" {
		return
	}
	if o.addrs == nil {
		o.addrs = map[string]bool{}
	}
	o.addrs[addr] = true
}

// refuses reports whether the other side is revoked.
func (o *outcasts) refuses(cert *x509.Certificate) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.keys[keyOf(cert)]
}

// keep returns a connection that is closed once its other side is revoked, which may already be so.
func (o *outcasts) keep(conn net.Conn, cert *x509.Certificate, addr string) (net.Conn, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.keys[keyOf(cert)] {
		o.found(addr)
		return nil, ErrRevoked
	}
	delete(o.addrs, addr)
	if o.open == nil {
		o.open = map[*known]bool{}
	}
	k := &known{Conn: conn, all: o, cert: cert, addr: addr}
	o.open[k] = true
	return k, nil
}

// guarded is TLS that records its connections.
type guarded struct {
	credentials.TransportCredentials
	id *Identity
}

// credentials returns the transport credentials for gRPC.
func (id *Identity) credentials(c *tls.Config) credentials.TransportCredentials {
	return guarded{credentials.NewTLS(c), id}
}

// ClientHandshake makes the handshake of TLS, and keeps the connection.
func (g guarded) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := g.TransportCredentials.ClientHandshake(ctx, authority, raw)
	return g.shaken(conn, info, err, raw.RemoteAddr().String())
}

// ServerHandshake makes the handshake of TLS, and keeps the connection.
func (g guarded) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := g.TransportCredentials.ServerHandshake(raw)
	if is, ok := info.(credentials.TLSInfo); ok && err == nil {
		proven(raw, len(is.State.PeerCertificates) > 0)
	}
	return g.shaken(conn, info, err, "")
}

// Clone returns a copy.
func (g guarded) Clone() credentials.TransportCredentials {
	return guarded{g.TransportCredentials.Clone(), g.id}
}

// shaken keeps a connection after the handshake. A connection without a certificate is of a process
// that is about to join.
func (g guarded) shaken(conn net.Conn, info credentials.AuthInfo, err error, addr string) (net.Conn, credentials.AuthInfo, error) {
	if err != nil {
		if errors.Is(err, ErrRevoked) {
			g.id.outcasts.mu.Lock()
			g.id.outcasts.found(addr)
			g.id.outcasts.mu.Unlock()
		}
		return nil, nil, err
	}
	is, ok := info.(credentials.TLSInfo)
	if !ok || len(is.State.PeerCertificates) == 0 {
		return conn, info, nil
	}
	kept, err := g.id.outcasts.keep(conn, is.State.PeerCertificates[0], addr)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return kept, info, nil
}
