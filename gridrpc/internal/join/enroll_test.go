package join

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// platform is a platform with a master in the process of the test.
type platform struct {
	t    *testing.T
	dir  string
	ca   token.Hash
	addr string
	now  atomic.Int64 // the offset of the desk's clock
	desk *Desk
}

// probe has the calls that every process answers.
type probe struct{ pb.UnimplementedNodeServer }

func (probe) Probe(context.Context, *pb.ProbeRequest) (*pb.ProbeReply, error) {
	return &pb.ProbeReply{}, nil
}

func (probe) Beats(grpc.BidiStreamingServer[pb.Beating, pb.Beating]) error {
	return status.Error(codes.Aborted, "let in")
}

func newPlatform(t *testing.T) *platform {
	p := &platform{t: t, dir: t.TempDir()}
	authority, err := link.NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, authority.Save(p.dir))
	require.NoError(t, authority.Issue(p.dir, link.Master, "ma"))
	p.ca = token.HashOf(authority.Certificate().Raw)
	p.desk = &Desk{Dir: p.dir, Authority: authority, Now: func() time.Time { return time.Now().Add(time.Duration(p.now.Load())) }, Say: func(text string) { t.Log(text) }}
	p.addr = p.serve(p.desk)
	require.NoError(t, discovery.SaveMasters(p.dir, p.addr))
	require.NoError(t, discovery.SaveStore(p.dir, "/a/folder"))
	return p
}

// serve starts a gRPC server of this platform with a desk.
func (p *platform) serve(d pb.EnrollmentServer) string {
	id, err := link.Load(p.dir, "ma")
	require.NoError(p.t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	g := id.NewGate(pb.Enrollment_Redeem_FullMethodName)
	pb.RegisterEnrollmentServer(g, d)
	pb.RegisterNodeServer(g, probe{})
	go func() { _ = g.Serve(l) }()
	p.t.Cleanup(g.Stop)
	return l.Addr().String()
}

func (p *platform) token(role string) token.Token {
	t := token.Token{CA: p.ca, Addrs: []string{p.addr}}
	_, _ = rand.Read(t.Secret[:]) // never fails
	require.NoError(p.t, Change(p.dir, func(b *token.Book) error {
		_, err := b.Issue(mono.Time(time.Now().UnixNano()), t.Secret, token.Terms{Role: role, Uses: 1, Lasts: 3600 * mono.Second})
		return err
	}))
	return t
}

func enter(t *testing.T, w Wish) (*link.Identity, error) {
	if w.Dir == "" {
		w.Dir = filepath.Join(t.TempDir(), "home")
	}
	id, _, err := Enter(t.Context(), w)
	return id, err
}

// TestEnter: the identity that a token gives is in the home, and is read from there.
func TestEnter(t *testing.T) {
	p := newPlatform(t)
	home := filepath.Join(t.TempDir(), "home")
	w := Wish{Dir: home, Token: p.token(token.Server).String(), Name: "far", Role: link.Worker}
	id, err := enter(t, w)
	require.NoError(t, err)
	role, name, err := id.Subject()
	require.NoError(t, err)
	assert.Equal(t, "server far", string(role)+" "+name)
	assert.WithinDuration(t, time.Now().Add(link.Life), id.Ends(), time.Minute)
	masters, err := discovery.Masters(home)
	require.NoError(t, err)
	assert.Equal(t, []string{p.addr}, masters)
	store, err := discovery.Store(home)
	require.NoError(t, err)
	assert.Empty(t, store, "a folder is not seen from elsewhere")

	for _, again := range []string{w.Token, ""} { // the token is used up
		w.Token = again
		same, err := enter(t, w)
		require.NoError(t, err)
		assert.Equal(t, id.Pair().Certificate, same.Pair().Certificate)
	}
	w.Role = link.Client
	_, err = enter(t, w)
	assert.ErrorIs(t, err, ErrOtherRole)
	w.Role, w.Token = link.Worker, newPlatform(t).token(token.Server).String()
	_, err = enter(t, w)
	assert.ErrorIs(t, err, ErrOtherHome)
}

// TestRenewal: a known member renews its certificate over the wire, until its token is revoked.
func TestRenewal(t *testing.T) {
	p := newPlatform(t)
	home := filepath.Join(t.TempDir(), "home")
	id, err := enter(t, Wish{Dir: home, Token: p.token(token.Client).String(), Role: link.Client})
	require.NoError(t, err)
	p.now.Store(int64(link.Life / 2))
	require.NoError(t, discovery.SaveStore(p.dir, "s3://bucket"))
	pair, err := Renewal(id, home)(t.Context())
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(link.Life*3/2), pair.Leaf.NotAfter, time.Minute)
	store, err := discovery.Store(home)
	require.NoError(t, err)
	assert.Equal(t, "s3://bucket", store)
	require.NoError(t, Change(p.dir, func(b *token.Book) error { return b.Revoke(mono.Time(time.Now().UnixNano()), b.Grants[0].ID) }))
	_, err = Renewal(id, home)(t.Context())
	assert.ErrorIs(t, err, token.ErrRevoked)
}

// TestAfterTheEnd: after the end of a certificate only a new token gives another; the name stays.
func TestAfterTheEnd(t *testing.T) {
	p := newPlatform(t)
	home := filepath.Join(t.TempDir(), "home")
	p.now.Store(-int64(link.Life) - int64(time.Minute))
	first := p.token(token.Server)
	id, err := enter(t, Wish{Dir: home, Token: first.String(), Role: link.Worker})
	require.NoError(t, err)
	_, name, err := id.Subject()
	require.NoError(t, err)
	p.now.Store(0)
	_, err = enter(t, Wish{Dir: home, Role: link.Worker})
	require.ErrorIs(t, err, ErrNoIdentity)
	assert.ErrorContains(t, err, "has ended at")
	_, err = enter(t, Wish{Dir: home, Token: first.String(), Role: link.Worker})
	require.ErrorIs(t, err, token.ErrUsedUp)
	id, err = enter(t, Wish{Dir: home, Token: p.token(token.Server).String(), Role: link.Worker})
	require.NoError(t, err)
	_, again, err := id.Subject()
	require.NoError(t, err)
	assert.Equal(t, name, again)
	p.now.Store(int64(2 * time.Hour))
	_, err = enter(t, Wish{Token: first.String(), Role: link.Worker})
	assert.ErrorIs(t, err, token.ErrExpired)
}

// eavesdropper answers as a master does, and counts the secrets that it receives.
type eavesdropper struct {
	pb.UnimplementedEnrollmentServer
	heard atomic.Int64
}

func (e *eavesdropper) Redeem(context.Context, *pb.RedeemRequest) (*pb.Enrolled, error) {
	e.heard.Add(1)
	return &pb.Enrolled{}, nil
}

// TestManInTheMiddle: the secret is sent to a master of the platform only: not to a master of
// another platform, and not to another process of this one.
func TestManInTheMiddle(t *testing.T) {
	p, e := newPlatform(t), &eavesdropper{}
	secret := p.token(token.Server)
	for _, at := range []*platform{newPlatform(t), p} {
		if at == p {
			require.NoError(t, p.desk.Authority.Issue(p.dir, link.Worker, "ma")) // of the platform, and no master
		}
		secret.Addrs = []string{at.serve(e)}
		_, err := enter(t, Wish{Token: secret.String(), Role: link.Worker})
		require.ErrorIs(t, err, link.ErrOtherAuthority)
	}
	assert.Zero(t, e.heard.Load())
	require.NoError(t, p.desk.Authority.Issue(p.dir, link.Master, "ma"))
	secret.Addrs = []string{p.serve(e)}
	_, err := enter(t, Wish{Token: secret.String(), Role: link.Worker})
	require.Error(t, err, "a certificate of nothing")
	assert.Equal(t, int64(1), e.heard.Load())
}

// TestUnreachable: all addresses are tried, and the last one answers.
func TestUnreachable(t *testing.T) {
	p := newPlatform(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	one := p.token(token.Server)
	one.Addrs = []string{l.Addr().String()}
	_, err = enter(t, Wish{Token: one.String(), Role: link.Worker})
	require.ErrorIs(t, err, ErrUnreachable)
	one.Addrs = append(one.Addrs, p.addr)
	_, err = enter(t, Wish{Token: one.String(), Role: link.Worker})
	require.NoError(t, err)
}

// TestGate: a process without a certificate may call Redeem, and no other method.
func TestGate(t *testing.T) {
	p := newPlatform(t)
	conn, _, err := link.Knock(t.Context(), p.addr, p.ca)
	require.NoError(t, err)
	defer conn.Close()
	_, err = pb.NewEnrollmentClient(conn).Redeem(t.Context(), &pb.RedeemRequest{})
	assert.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = pb.NewNodeClient(conn).Probe(t.Context(), &pb.ProbeRequest{})
	assert.Equal(t, codes.Unauthenticated, status.Code(err))
	_, err = pb.NewEnrollmentClient(conn).Renew(t.Context(), &pb.RenewRequest{})
	assert.Equal(t, codes.Unauthenticated, status.Code(err))
	stream, err := pb.NewNodeClient(conn).Beats(t.Context())
	require.NoError(t, err)
	_, err = stream.Recv()
	assert.Equal(t, codes.Unauthenticated, status.Code(err))

	id, err := enter(t, Wish{Token: p.token(token.Client).String(), Role: link.Client})
	require.NoError(t, err)
	mine, err := id.Dial(p.addr)
	require.NoError(t, err)
	defer mine.Close()
	_, err = pb.NewNodeClient(mine).Probe(t.Context(), &pb.ProbeRequest{})
	require.NoError(t, err)
	stream, err = pb.NewNodeClient(mine).Beats(t.Context())
	require.NoError(t, err)
	_, err = stream.Recv()
	assert.Equal(t, codes.Aborted, status.Code(err))
}

// TestRequests: a request must have a name that no process of the platform has or may get, and a
// key of the right kind that the requester owns.
func TestRequests(t *testing.T) {
	p := newPlatform(t)
	for _, own := range []string{"ma", "ma3", "a12", "s1", "st2", "client"} {
		_, err := enter(t, Wish{Token: p.token(token.Server).String(), Name: own, Role: link.Worker})
		assert.ErrorIs(t, err, token.ErrNameTaken, own)
	}
	_, err := enter(t, Wish{Token: p.token(token.Server).String(), Name: "no name", Role: link.Worker})
	assert.Equal(t, codes.InvalidArgument, status.Code(err))

	_, weak, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	other, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, weak)
	require.NoError(t, err)
	key, err := link.NewKey()
	require.NoError(t, err)
	forged, _, err := request(key)
	require.NoError(t, err)
	forged[len(forged)-1] ^= 1 // of the signature
	for _, csr := range [][]byte{other, forged, nil} {
		secret := p.token(token.Server).Secret
		_, err = p.desk.Redeem(t.Context(), &pb.RedeemRequest{Secret: secret[:], Csr: csr, Name: "far", Role: token.Server})
		assert.Equal(t, codes.InvalidArgument, status.Code(err))
	}
}

// FuzzRequest: a request is either refused, or has a key of the requester.
func FuzzRequest(f *testing.F) {
	key, err := link.NewKey()
	require.NoError(f, err)
	csr, _, err := request(key)
	require.NoError(f, err)
	f.Add(csr)
	f.Add(csr[:20])
	f.Fuzz(func(t *testing.T, data []byte) {
		got, hash, err := readRequest(data)
		if err != nil {
			assert.Equal(t, codes.InvalidArgument, status.Code(err))
			return
		}
		public, err := x509.MarshalPKIXPublicKey(got)
		require.NoError(t, err)
		assert.Equal(t, token.HashOf(public), hash)
	})
}

func TestOccupy(t *testing.T) {
	dir := t.TempDir()
	release, err := Occupy(dir)
	require.NoError(t, err)
	_, err = Occupy(dir)
	require.ErrorIs(t, err, ErrInUse)
	release()
	release, err = Occupy(dir)
	require.NoError(t, err)
	release()
}

func TestNameOf(t *testing.T) {
	for _, host := range []string{"Node-7.example.org", "", "ünïcode höst", string(make([]byte, 300))} {
		assert.True(t, discovery.NameForm.MatchString(nameOf(host, token.Hash{1})), "%q", host)
	}
	assert.Equal(t, "node-7-01000000", nameOf("Node-7.example.org", token.Hash{1}))
}

// FuzzBook: a file is either refused, or is a book that is written and read unchanged.
func FuzzBook(f *testing.F) {
	var b token.Book
	_, err := b.Issue(1, token.Secret{1}, token.Terms{Role: token.Server, Uses: 2, Lasts: 3600 * mono.Second})
	require.NoError(f, err)
	_, err = b.Redeem(2, token.Secret{1}, token.Ask{Name: "a", Role: token.Server}, 10)
	require.NoError(f, err)
	data, err := json.Marshal(b)
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"Grants":[{"ID":"a","Role":"master"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		book, err := decodeBook(data)
		if err != nil {
			return
		}
		out, err := json.Marshal(book)
		require.NoError(t, err)
		again, err := decodeBook(out)
		require.NoError(t, err)
		assert.Equal(t, book, again)
	})
}
