package gridrpc

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/folder"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// candidate is a master that becomes the root when it is asked for the n-th time; 0: never.
type candidate struct {
	pb.UnimplementedAgentServer
	becomes int64
	asked   atomic.Int64
}

func (m *candidate) Schedule(context.Context, *pb.ScheduleRequest) (*pb.ScheduleReply, error) {
	if n := m.asked.Add(1); m.becomes == 0 || n < m.becomes {
		return nil, status.Error(codes.Unavailable, "is not the root")
	}
	return &pb.ScheduleReply{}, nil
}

// TestDialWhileRootIsElected: the machine of the root is lost: its master takes connections, and says nothing. A client asks before
// another master is the root, and gets that one's answer all the same. Where all say that they are not the root, and be one listed
// twice, that is the answer.
func TestDialWhileRootIsElected(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvDir, dir)
	authority, err := link.NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, authority.Save(dir))
	require.NoError(t, authority.Issue(dir, link.Master, "ma"))
	require.NoError(t, authority.Issue(dir, link.Client, clientName))
	id, err := link.Load(dir, "ma")
	require.NoError(t, err)
	listen := func() net.Listener {
		l, err := net.Listen("tcp", folder.ListenAt())
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		return l
	}
	serve := func(m *candidate) string {
		g, l := id.NewServer(), listen()
		pb.RegisterAgentServer(g, m)
		go func() { assert.NoError(t, g.Serve(l)) }()
		t.Cleanup(g.Stop)
		return l.Addr().String()
	}
	lost, never, late := listen().Addr().String(), &candidate{}, &candidate{becomes: 3}
	neverAt := serve(never)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := Dial(ctx, strings.Join([]string{lost, neverAt, serve(late)}, ","))
	require.NoError(t, err)
	c.Close()
	assert.EqualValues(t, 3, late.asked.Load())
	_, err = Dial(ctx, strings.Join([]string{neverAt, neverAt}, ","))
	require.ErrorIs(t, err, ErrNoMaster)
	assert.NoError(t, ctx.Err())
	_, err = Dial(ctx, lost)
	require.ErrorIs(t, err, ErrNoMaster)
	assert.ErrorContains(t, err, lost+": no answer within 2s: it is the only master")
	assert.ErrorContains(t, err, "gridrpc up --masters 3")
}
