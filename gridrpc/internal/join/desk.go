package join

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Desk answers the requests for certificates at a master.
type Desk struct {
	pb.UnimplementedEnrollmentServer
	Dir       string // the folder of the platform
	Authority *link.Authority
	Now       func() time.Time
	Say       func(text string)
}

// NewServer returns the gRPC server of a master, with the desk as a service.
func (d *Desk) NewServer(id *link.Identity) *grpc.Server {
	g := id.NewGate(pb.Enrollment_Redeem_FullMethodName)
	pb.RegisterEnrollmentServer(g, d)
	return g
}

// Redeem exchanges a token for a certificate.
func (d *Desk) Redeem(_ context.Context, m *pb.RedeemRequest) (*pb.Enrolled, error) {
	var secret token.Secret
	if len(m.Secret) != len(secret) || !discovery.NameForm.MatchString(m.Name) {
		return nil, status.Errorf(codes.InvalidArgument, "a secret of %d bytes, and the name %.80q: a name is %s", len(m.Secret), m.Name, discovery.NameForm)
	}
	copy(secret[:], m.Secret)
	key, hash, err := readRequest(m.Csr)
	if err != nil {
		return nil, err
	}
	ask := token.Ask{Name: m.Name, Role: m.Role, Key: hash, Own: d.isOwn(m.Name)}
	reply, err := d.issue(key, func(b *token.Book, now mono.Time, life mono.Duration) (token.Member, error) {
		return b.Redeem(now, secret, ask, life)
	})
	if err == nil {
		d.Say("has let in the " + m.Role + " " + m.Name)
	}
	return reply, err
}

// Renew renews the certificate of the caller.
func (d *Desk) Renew(ctx context.Context, m *pb.RenewRequest) (*pb.Enrolled, error) {
	role, name, err := link.Caller(ctx)
	if err != nil {
		return nil, err
	}
	key, hash, err := readRequest(m.Csr)
	if err != nil {
		return nil, err
	}
	return d.issue(key, func(b *token.Book, now mono.Time, life mono.Duration) (token.Member, error) {
		return b.Renew(now, token.Ask{Name: name, Role: string(role), Key: hash}, life)
	})
}

// issue applies a rule to the book, stores its decision, and signs the certificate.
func (d *Desk) issue(key crypto.PublicKey, rule func(b *token.Book, now mono.Time, life mono.Duration) (token.Member, error)) (*pb.Enrolled, error) {
	var m token.Member
	now := d.Now()
	err := Change(d.Dir, func(b *token.Book) (err error) {
		m, err = rule(b, mono.Time(now.UnixNano()), mono.Duration(d.Authority.Life))
		return err
	})
	if err != nil {
		return nil, refusal(err)
	}
	reply := &pb.Enrolled{}
	if reply.Certificate, err = d.Authority.Sign(key, link.Role(m.Role), m.Name, now); err != nil {
		return nil, err
	}
	if reply.Masters, err = discovery.Masters(d.Dir); err != nil {
		return nil, err
	}
	if reply.Store, err = discovery.Store(d.Dir); err != nil {
		return nil, err
	}
	if !strings.Contains(reply.Store, "://") { // a folder of this machine
		reply.Store = ""
	}
	return reply, nil
}

// readRequest returns the key to sign, and its hash. The rest of a request is ignored.
func readRequest(csr []byte) (crypto.PublicKey, token.Hash, error) {
	r, err := x509.ParseCertificateRequest(csr)
	if err == nil {
		err = r.CheckSignature()
	}
	if err != nil {
		return nil, token.Hash{}, status.Errorf(codes.InvalidArgument, "no request for a certificate: %v", err)
	}
	key, ok := r.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, token.Hash{}, status.Error(codes.InvalidArgument, "want a key of ECDSA on P-256, as all of a platform have")
	}
	return key, token.HashOf(r.RawSubjectPublicKeyInfo), nil
}

// ownForm matches the names that "gridrpc up" gives to processes, started or not.
var ownForm = regexp.MustCompile(`^(ma|a|s|st)[0-9]*$|^client$`)

// isOwn reports whether a process of the platform itself has the name, or may get it.
func (d *Desk) isOwn(name string) bool {
	_, err := os.Stat(filepath.Join(d.Dir, name+".pem"))
	return err == nil || ownForm.MatchString(name)
}

// refusals are the errors of the rules. They are sent as text with these codes.
var refusals = map[codes.Code][]error{
	codes.AlreadyExists:      {token.ErrNameTaken},
	codes.PermissionDenied:   {token.ErrUnknown, token.ErrExpired, token.ErrUsedUp, token.ErrRevoked, token.ErrNoMember},
	codes.FailedPrecondition: {token.ErrRole},
}

func refusal(err error) error {
	if one, code := find(err); one != nil {
		return status.Error(code, one.Error())
	}
	return status.Error(codes.Internal, err.Error())
}

// find returns the error of the rules in err, and its code.
func find(err error) (one error, code codes.Code) {
	for code, list := range refusals {
		for _, one := range list {
			if errors.Is(err, one) {
				return one, code
			}
		}
	}
	return nil, codes.OK
}

// IsRefusal reports whether an error of Enter is a refusal by the rules of the platform, so that
// another attempt gets it again.
func IsRefusal(err error) bool {
	one, _ := find(err)
	return one != nil
}

// refused returns the error of the rules that was sent as err, or err itself.
func refused(err error) error {
	for _, one := range refusals[status.Code(err)] {
		if status.Convert(err).Message() == one.Error() {
			return one
		}
	}
	return err
}
