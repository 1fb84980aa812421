package discovery

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// candidate is a master that becomes the root when it is asked for the n-th time; 0: never.
type candidate struct {
	pb.UnimplementedAgentServer
	becomes int64
	asked   atomic.Int64
}

func (c *candidate) Root(context.Context, *pb.RootRequest) (*pb.RootReply, error) {
	if n := c.asked.Add(1); c.becomes == 0 || n < c.becomes {
		return &pb.RootReply{}, nil
	}
	return &pb.RootReply{Root: &pb.Ref{Name: "ma"}, Term: 7}, nil
}

// council starts masters that answer and, if lost is set, one on a lost machine, which accepts
// connections and never answers.
func council(t *testing.T, lost bool, masters ...*candidate) (dir string, client *link.Identity) {
	dir = t.TempDir()
	authority, err := link.NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, authority.Save(dir))
	identity := func(role link.Role, name string) *link.Identity {
		require.NoError(t, authority.Issue(dir, role, name))
		id, err := link.Load(dir, name)
		require.NoError(t, err)
		return id
	}
	var addrs []string
	listen := func() net.Listener {
		l, err := net.Listen("tcp", ListenAt())
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		addrs = append(addrs, l.Addr().String())
		return l
	}
	if lost {
		listen()
	}
	for _, m := range masters {
		g, l := identity(link.Master, "ma").NewServer(), listen()
		pb.RegisterAgentServer(g, m)
		go func() { assert.NoError(t, g.Serve(l)) }()
		t.Cleanup(g.Stop)
	}
	require.NoError(t, SaveMasters(dir, addrs...))
	return dir, identity(link.Client, "client")
}

// TestRootElected: the root among three masters is lost and never answers; another one becomes the
// root later. An early request gets the answer of this one, without a wait for the lost master.
func TestRootElected(t *testing.T) {
	late, never := &candidate{becomes: 3}, &candidate{}
	dir, id := council(t, true, never, late)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reply, err := RootAndTerm(ctx, dir, id)
	require.NoError(t, err)
	assert.Equal(t, uint64(7), reply.Term)
	assert.EqualValues(t, 3, late.asked.Load())
	assert.NoError(t, ctx.Err())
}

// TestNoRoot: if all masters answer that they are not the root, the request fails at once.
func TestNoRoot(t *testing.T) {
	dir, id := council(t, false, &candidate{}, &candidate{})
	_, err := RootAndTerm(t.Context(), dir, id)
	require.ErrorIs(t, err, ErrNoMaster)
	assert.ErrorContains(t, err, "is not the root")
}
