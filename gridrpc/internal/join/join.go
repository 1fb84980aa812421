package join

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
)

// ErrUnreachable reports that no master answered.
var ErrUnreachable = errors.New(`no master of the platform answers: is it up ("gridrpc up --listen" with an address that this machine reaches), and does a firewall let connections through?`)

// masterWithin bounds the time for the answer of one master.
const masterWithin = 10 * time.Second

// redeem exchanges the token for a certificate, and stores it in folder dir.
func (w Wish) redeem(ctx context.Context, dir string, t token.Token) error {
	key, err := keyOf(dir)
	if err != nil {
		return err
	}
	csr, hash, err := request(key)
	if err != nil {
		return err
	}
	if w.Name == "" {
		host, _ := os.Hostname()
		w.Name = nameOf(host, hash)
	}
	m := &pb.RedeemRequest{Secret: t.Secret[:], Csr: csr, Name: w.Name, Role: string(w.Role)}
	var failures []string
	for _, addr := range t.Addrs {
		ca, reply, err := redeemAt(ctx, addr, t.CA, m)
		switch {
		case err == nil:
			if err := proves(reply, ca, key, w); err != nil {
				return fmt.Errorf("%s: %w", addr, err)
			}
			return save(dir, ca, reply.Certificate, key, union(reply.Masters, t.Addrs), reply.Store)
		case errors.Is(err, link.ErrOtherAuthority), !isAway(err):
			return fmt.Errorf("%s: %w", addr, refused(err))
		}
		failures = append(failures, fmt.Sprintf("%s: %v", addr, err))
	}
	return fmt.Errorf("%w (%s)", ErrUnreachable, strings.Join(failures, "; "))
}

// isAway reports whether an error is of the connection, or of a process that is no master.
func isAway(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Unknown: // Unknown is no status: of the system
		return true
	}
	return false
}

func redeemAt(ctx context.Context, addr string, ca token.Hash, m *pb.RedeemRequest) (*x509.Certificate, *pb.Enrolled, error) {
	ctx, cancel := context.WithTimeout(ctx, masterWithin)
	defer cancel()
	conn, authority, err := link.Knock(ctx, addr, ca)
	if err != nil {
		return nil, nil, err
	}
	defer link.HangUp(conn)
	reply, err := pb.NewEnrollmentClient(conn).Redeem(ctx, m)
	return authority, reply, err
}

// request returns a request to have a key signed, and the key's hash.
func request(key *ecdsa.PrivateKey) (csr []byte, hash token.Hash, err error) {
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, token.Hash{}, err
	}
	csr, err = x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	return csr, token.HashOf(public), err
}

// proves checks a received certificate: it must be the requested one.
func proves(reply *pb.Enrolled, ca *x509.Certificate, key *ecdsa.PrivateKey, w Wish) error {
	cert, err := x509.ParseCertificate(reply.Certificate)
	if err != nil {
		return err
	}
	role, name, err := link.SubjectOf(cert)
	if err != nil {
		return err
	}
	if !key.PublicKey.Equal(cert.PublicKey) || cert.CheckSignatureFrom(ca) != nil || role != w.Role || name != w.Name {
		return fmt.Errorf("the master has sent a certificate of %s %s, and %s %s was asked for", role, name, w.Role, w.Name)
	}
	return nil
}

// renew renews the certificate of a home at a master.
func renew(ctx context.Context, id *link.Identity, dir string) error {
	key, ok := id.Pair().PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return errors.New("no key that can be renewed: join once more, with a new token")
	}
	role, name, err := id.Subject()
	if err != nil {
		return err
	}
	csr, _, err := request(key)
	if err != nil {
		return err
	}
	masters, err := discovery.Masters(dir)
	if err != nil {
		return err
	}
	failures := []error{ErrUnreachable}
	for _, addr := range masters {
		reply, err := renewAt(ctx, id, addr, csr)
		if err == nil {
			if err := proves(reply, id.Authority(), key, Wish{Name: name, Role: role}); err != nil {
				return fmt.Errorf("%s: %w", addr, err)
			}
			return save(dir, id.Authority(), reply.Certificate, key, union(reply.Masters, masters), reply.Store)
		}
		if !isAway(err) {
			return fmt.Errorf("%s: %w", addr, refused(err))
		}
		failures = append(failures, fmt.Errorf("%s: %w", addr, err))
	}
	return errors.Join(failures...)
}

func renewAt(ctx context.Context, id *link.Identity, addr string, csr []byte) (*pb.Enrolled, error) {
	ctx, cancel := context.WithTimeout(ctx, masterWithin)
	defer cancel()
	conn, err := id.Dial(addr, link.Master)
	if err != nil {
		return nil, err
	}
	defer link.HangUp(conn)
	return pb.NewEnrollmentClient(conn).Renew(ctx, &pb.RenewRequest{Csr: csr})
}

// union returns the present addresses of the platform, and those by which this machine has reached
// it. They may differ where a network translates addresses.
func union(now, known []string) []string {
	list := slices.Clone(now)
	for _, addr := range known {
		if !slices.Contains(list, addr) && len(list) < mastersMax {
			list = append(list, addr)
		}
	}
	return list
}

// mastersMax bounds the number of addresses in a home.
const mastersMax = 16
