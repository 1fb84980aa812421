package link

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
)

// TestRevoke: open connections with a revoked process end at once, on either side, and new ones are
// refused. Those of others stay, and a process that leaves the list is accepted again.
func TestRevoke(t *testing.T) {
	dir := t.TempDir()
	authority, err := NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, authority.Save(dir))
	identity := func(role Role, name string) *Identity {
		require.NoError(t, authority.Issue(dir, role, name))
		id, err := Load(dir, name)
		require.NoError(t, err)
		return id
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	serve := func(id *Identity) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		g := id.NewServer()
		pb.RegisterNodeServer(g, answerer{})
		go func() { assert.NoError(t, g.Serve(l)) }()
		t.Cleanup(g.Stop)
		return l.Addr().String()
	}
	dial := func(id *Identity, addr string) *grpc.ClientConn {
		conn, err := id.Dial(addr)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	probe := func(c *grpc.ClientConn) error {
		_, err := pb.NewNodeClient(c).Probe(ctx, &pb.ProbeRequest{})
		return err
	}
	master, guest, other := identity(Master, "ma"), identity(Worker, "guest"), identity(Worker, "other")
	masterAt, guestAt := serve(master), serve(guest)
	fromGuest, toGuest, fromOther := dial(guest, masterAt), dial(master, guestAt), dial(other, masterAt)
	for _, c := range []*grpc.ClientConn{fromGuest, toGuest, fromOther} {
		require.NoError(t, probe(c))
		require.Equal(t, connectivity.Ready, c.GetState())
	}
	key := keyOf(guest.Pair().Leaf)
	assert.Equal(t, []string{"server guest"}, master.Revoke([]token.Hash{key}))
	assert.Equal(t, []token.Hash{key}, master.Revoked())
	for _, c := range []*grpc.ClientConn{fromGuest, toGuest} {
		assert.True(t, c.WaitForStateChange(ctx, connectivity.Ready))
		assert.Equal(t, codes.Unavailable, status.Code(probe(c)))
	}
	assert.True(t, master.IsOutcast(guestAt))
	assert.ErrorContains(t, probe(toGuest), ErrRevoked.Error())
	fresh := dial(master, guestAt)
	assert.ErrorContains(t, probe(fresh), ErrRevoked.Error())
	assert.Equal(t, connectivity.Ready, fromOther.GetState())
	assert.NoError(t, probe(fromOther))
	assert.Empty(t, master.Revoke([]token.Hash{key}), "all are closed")

	assert.Empty(t, master.Revoke(nil))
	again := dial(master, guestAt)
	assert.NoError(t, probe(again))
	assert.False(t, master.IsOutcast(guestAt))
	assert.NoError(t, probe(dial(guest, masterAt)))
}

// TestRevokedMeanwhile: a process that is revoked between its handshake and the registration of its
// connection is cut off, too.
func TestRevokedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	authority, err := NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, authority.Save(dir))
	require.NoError(t, authority.Issue(dir, Worker, "guest"))
	id, err := Load(dir, "guest")
	require.NoError(t, err)
	cert := id.Pair().Leaf
	id.Revoke([]token.Hash{keyOf(cert)})
	here, there := net.Pipe()
	defer there.Close()
	defer here.Close()
	_, err = id.outcasts.keep(here, cert, "")
	assert.ErrorIs(t, err, ErrRevoked)
}
