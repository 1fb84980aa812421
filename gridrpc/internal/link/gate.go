package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/goulfm/goulfm/gridrpc/internal/token"
)

// NewGate returns a gRPC server as NewServer does, with some methods that processes without a
// certificate may also call. The server shows them the certificate of the authority, because they
// know its hash.
func (id *Identity) NewGate(methods ...string) *grpc.Server {
	c := id.config()
	c.ClientAuth = tls.RequestClientCert
	c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		chain := *id.cert.Load()
		chain.Certificate = append(slices.Clone(chain.Certificate), id.ca.Raw)
		return &chain, nil
	}
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return nil
		}
		return id.verify(state)
	}
	admit := func(ctx context.Context, method string) error {
		if slices.Contains(methods, method) {
			return nil
		}
		_, _, err := Caller(ctx)
		return err
	}
	return newServer(id.credentials(c),
		grpc.UnaryInterceptor(func(ctx context.Context, m any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := admit(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, m)
		}),
		grpc.StreamInterceptor(func(v any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := admit(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			return next(v, stream)
		}))
}

// ErrOtherAuthority reports that the process at an address belongs to another platform.
var ErrOtherAuthority = errors.New("the process at this address is not a master of the platform of the token: another process intercepts the connection, or another platform has the address now: " +
	`compare the address with that of the platform, and make a new token with "gridrpc token new"`)

// Knock connects a process without a certificate to a master of a platform, and returns the
// certificate of its authority, which must have the hash ca. No other process gets any data.
func Knock(ctx context.Context, addr string, ca token.Hash) (*grpc.ClientConn, *x509.Certificate, error) {
	var authority *x509.Certificate
	d := tls.Dialer{Config: &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"},
		InsecureSkipVerify: true, // of the host name, and of an authority of the system: pinned checks the chain
		VerifyConnection: func(state tls.ConnectionState) (err error) {
			authority, err = pinned(state, ca)
			return err
		},
	}}
	tcp, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	once := make(chan net.Conn, 1)
	once <- tcp
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()), // TLS is below
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec())),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case c := <-once:
				return c, nil
			default:
				return nil, errors.New("the connection has ended")
			}
		}))
	return conn, authority, err
}

// pinned returns the certificate of the authority in a chain. It must have the hash ca, and must
// have signed the certificate of the other side, a master.
func pinned(state tls.ConnectionState, ca token.Hash) (*x509.Certificate, error) {
	at := slices.IndexFunc(state.PeerCertificates, func(c *x509.Certificate) bool { return token.HashOf(c.Raw) == ca })
	if at < 1 || !state.PeerCertificates[at].IsCA {
		return nil, ErrOtherAuthority
	}
	roots := x509.NewCertPool()
	roots.AddCert(state.PeerCertificates[at])
	leaf := state.PeerCertificates[0]
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrOtherAuthority, err)
	}
	if role, _, err := SubjectOf(leaf); err != nil || role != Master {
		return nil, ErrOtherAuthority
	}
	return state.PeerCertificates[at], nil
}
