package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Identity is the identity of a process, with its certificate and key. A renewal of the certificate
// keeps open connections; later ones use the new certificate.
type Identity struct {
	cert atomic.Pointer[tls.Certificate]
	ca   *x509.Certificate
	pool *x509.CertPool

	outcasts outcasts
}

// Load reads the certificate of a process from folder dir, where an Authority has written it.
func Load(dir, name string) (*Identity, error) {
	ca, err := os.ReadFile(filepath.Join(dir, caFile))
	if err != nil {
		return nil, fmt.Errorf("certificate of the platform: %w", err)
	}
	b, _ := pem.Decode(ca)
	if b == nil {
		return nil, fmt.Errorf("%s: no certificate", filepath.Join(dir, caFile))
	}
	id := &Identity{pool: x509.NewCertPool()}
	if id.ca, err = x509.ParseCertificate(b.Bytes); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, caFile), err)
	}
	id.pool.AddCert(id.ca)
	cert, err := LoadPair(dir, name)
	if err != nil {
		return nil, err
	}
	id.cert.Store(&cert)
	return id, nil
}

// LoadPair reads the certificate of a process, and its key, from folder dir.
func LoadPair(dir, name string) (tls.Certificate, error) {
	// one read: between two reads another pair may take the place of the file
	text, err := os.ReadFile(certFile(dir, name))
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(text, text)
}

// Subject returns the role and name of this process.
func (id *Identity) Subject() (Role, string, error) { return SubjectOf(id.cert.Load().Leaf) }

// Ends returns when the certificate ends.
func (id *Identity) Ends() time.Time { return id.cert.Load().Leaf.NotAfter }

// Pair returns the certificate and its key.
func (id *Identity) Pair() tls.Certificate { return *id.cert.Load() }

// Authority returns the certificate of the platform's authority.
func (id *Identity) Authority() *x509.Certificate { return id.ca }

// config requires a certificate of the platform's authority from the other side. Certificates
// contain no addresses, because processes move.
func (id *Identity) config() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return id.cert.Load(), nil },
		GetClientCertificate:   func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return id.cert.Load(), nil },
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // of the host name only: verify checks the chain
		VerifyConnection:       id.verify,
		SessionTicketsDisabled: true,
	}
}

func (id *Identity) verify(c tls.ConnectionState) error {
	if len(c.PeerCertificates) == 0 {
		return errors.New("no certificate")
	}
	if _, err := c.PeerCertificates[0].Verify(id.verifyOptions()); err != nil {
		return err
	}
	if id.outcasts.refuses(c.PeerCertificates[0]) {
		return ErrRevoked
	}
	return nil
}

func (id *Identity) verifyOptions() x509.VerifyOptions {
	return x509.VerifyOptions{Roots: id.pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
}

// Bytes that may be under way in a stream and in a connection before the other side has read any.
// gRPC begins with 64 KiB and adapts the window to the time of answers. On busy processors this
// time is that of the processes, and large arguments become slow.
const (
	streamWindow = 4 << 20
	connWindow   = 16 << 20
)

// NewServer returns a gRPC server that accepts only processes of the platform.
func (id *Identity) NewServer() *grpc.Server { return newServer(id.credentials(id.config())) }

func newServer(c credentials.TransportCredentials, o ...grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(o, grpc.Creds(c), grpc.MaxConcurrentStreams(1<<20),
		grpc.ForceServerCodecV2(newCodec()), grpc.UnknownServiceHandler(foreign), grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connWindow))...)
}

// foreign answers calls of methods that do not exist here, by a process of another version.
func foreign(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	return status.Errorf(codes.Unimplemented, "this process speaks %s, and was asked for %s: both must be built from the same version", pb.Wire(), method)
}

// Dial returns a connection that is made at its first use. The process there must have one of the
// roles; without roles it must be of the platform.
func (id *Identity) Dial(addr string, roles ...Role) (*grpc.ClientConn, error) {
	config := id.config()
	if len(roles) > 0 {
		config = id.TLS(roles...)
	}
	return grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(id.credentials(config)), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec())),
		grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connWindow),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 2 * time.Second,
		}))
}

// HangUp closes a connection or a listener. It ignores errors: an ended or broken connection needs
// no further action.
func HangUp(c io.Closer) { _ = c.Close() }

// Caller returns the role and name of the caller.
func Caller(ctx context.Context) (Role, string, error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", "", status.Error(codes.Unauthenticated, "no peer")
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return "", "", status.Error(codes.Unauthenticated, "no certificate")
	}
	return otherSide(info.State)
}

// otherSide returns the role and name of the other side of a connection.
func otherSide(c tls.ConnectionState) (Role, string, error) {
	if len(c.PeerCertificates) == 0 {
		return "", "", status.Error(codes.Unauthenticated, "no certificate")
	}
	return SubjectOf(c.PeerCertificates[0])
}

// SubjectOf returns the role and name in a certificate.
func SubjectOf(cert *x509.Certificate) (Role, string, error) {
	if len(cert.URIs) != 1 {
		return "", "", status.Error(codes.Unauthenticated, "a certificate of nobody")
	}
	role, name, ok := parseWho(cert.URIs[0].Path)
	if !ok {
		return "", "", status.Error(codes.Unauthenticated, "a certificate without a role")
	}
	return role, name, nil
}

// TLS returns the configuration for connections without gRPC, in either direction. The other side
// must have one of the roles.
func (id *Identity) TLS(roles ...Role) *tls.Config {
	c := id.config()
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if err := id.verify(state); err != nil {
			return err
		}
		role, name, err := otherSide(state)
		if err == nil && !slices.Contains(roles, role) {
			err = fmt.Errorf("%s %s may not connect here", role, name)
		}
		return err
	}
	return c
}

// parseWho reads the path of a certificate's URI: /ROLE/NAME.
func parseWho(path string) (role Role, name string, ok bool) {
	path, rooted := strings.CutPrefix(path, "/")
	text, name, named := strings.Cut(path, "/")
	role = Role(text)
	known := role == Client || role == Worker || role == Agent || role == Master || role == Store
	return role, name, rooted && named && known && name != "" && !strings.Contains(name, "/")
}

// Demand refuses callers that have none of the roles.
func Demand(ctx context.Context, roles ...Role) error {
	role, name, err := Caller(ctx)
	if err == nil && !slices.Contains(roles, role) {
		err = status.Errorf(codes.PermissionDenied, "%s %s may not do this", role, name)
	}
	return err
}

// Sight is the result of Look.
type Sight uint8

// The results of Look.
const (
	Unclear Sight = iota // no answer, or no route
	Listens              // a process listens
	Refuses              // the machine answers that no process listens
)

// Look checks whether a process listens at an address.
func Look(ctx context.Context, addr string) Sight {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	switch {
	case err == nil:
		c.Close()
		return Listens
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refuses
	}
	return Unclear
}
