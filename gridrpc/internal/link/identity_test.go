package link

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// FuzzParseWho: a path is either refused, or is a role and a name.
func FuzzParseWho(f *testing.F) {
	for _, path := range []string{"/client/client", "/server/s1", "server/s1", "/nobody/x", "/agent/", "/agent/a/b"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if role, name, ok := parseWho(path); ok {
			assert.Equal(t, path, "/"+string(role)+"/"+name)
		}
	})
}

// An answerer is a process that answers with the identity of the caller.
type answerer struct {
	pb.UnimplementedNodeServer
	demand []Role
}

func (w answerer) Probe(ctx context.Context, _ *pb.ProbeRequest) (*pb.ProbeReply, error) {
	role, name, err := Caller(ctx)
	if err == nil && len(w.demand) > 0 {
		err = Demand(ctx, w.demand...)
	}
	return &pb.ProbeReply{Me: &pb.Ref{Name: string(role) + " " + name}}, err
}

// TestOnlyOurOwn: processes of the platform identify each other by their certificates. Others are
// refused on both sides.
func TestOnlyOurOwn(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	ours, err := NewAuthority("ours")
	require.NoError(t, err)
	theirs, err := NewAuthority("ours")
	require.NoError(t, err)
	require.NoError(t, ours.Save(dir))
	require.NoError(t, ours.Issue(dir, Master, "ma"))
	require.NoError(t, ours.Issue(dir, Worker, "s1"))
	require.NoError(t, theirs.Issue(other, Worker, "s1"))
	ca, err := os.ReadFile(filepath.Join(dir, caFile))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(other, caFile), ca, 0o600)) // it even trusts us

	serve := func(role Role) string {
		id, err := Load(dir, "ma")
		require.NoError(t, err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		g := id.NewServer()
		pb.RegisterNodeServer(g, answerer{demand: []Role{role}})
		go func() { _ = g.Serve(l) }()
		t.Cleanup(g.Stop)
		return l.Addr().String()
	}
	ask := func(dir, addr string) (string, error) {
		id, err := Load(dir, "s1")
		require.NoError(t, err)
		conn, err := id.Dial(addr)
		require.NoError(t, err)
		defer conn.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		reply, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{})
		return reply.GetMe().GetName(), err
	}
	name, err := ask(dir, serve(Worker))
	require.NoError(t, err)
	assert.Equal(t, "server s1", name)
	_, err = ask(dir, serve(Master))
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	_, err = ask(other, serve(Worker))
	assert.Equal(t, codes.Unavailable, status.Code(err))
}

// TestLook: a machine answers whether a process listens.
func TestLook(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	assert.Equal(t, Listens, Look(t.Context(), l.Addr().String()))
	l.Close()
	assert.Equal(t, Refuses, Look(t.Context(), l.Addr().String()))
	assert.Equal(t, Unclear, Look(t.Context(), "nowhere"))
}
