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

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// candidate is a master that becomes the root when it is asked for the n-th time; 0: never. When
// it is asked for the up-th time its client gives up.
type candidate struct {
	pb.UnimplementedAgentServer
	becomes, up int64
	gives       func()
	asked       atomic.Int64
}

func (m *candidate) Schedule(context.Context, *pb.ScheduleRequest) (*pb.ScheduleReply, error) {
	n := m.asked.Add(1)
	if n == m.up {
		m.gives()
	}
	if m.becomes == 0 || n < m.becomes {
		return nil, status.Error(codes.Unavailable, "is not the root")
	}
	return &pb.ScheduleReply{}, nil
}

// council starts masters in a folder of their own, and returns their addresses. A nil master is
// lost: it accepts connections and never answers.
func council(t *testing.T, masters ...*candidate) (addrs []string) {
	dir := t.TempDir()
	t.Setenv(EnvDir, dir)
	authority, err := link.NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, authority.Save(dir))
	require.NoError(t, authority.Issue(dir, link.Master, "ma"))
	require.NoError(t, authority.Issue(dir, link.Client, discovery.ClientName))
	id, err := link.Load(dir, "ma")
	require.NoError(t, err)
	for _, m := range masters {
		l, err := net.Listen("tcp", discovery.ListenAt())
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		addrs = append(addrs, l.Addr().String())
		if m == nil {
			continue
		}
		g := id.NewServer()
		pb.RegisterAgentServer(g, m)
		go func() { assert.NoError(t, g.Serve(l)) }()
		t.Cleanup(g.Stop)
	}
	return addrs
}

// TestDialWhileRootIsElected: the machine of the root is lost, and another master becomes the root
// later. Dial returns then.
func TestDialWhileRootIsElected(t *testing.T) {
	late := &candidate{becomes: 3}
	addrs := council(t, nil, &candidate{}, late)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := Dial(ctx, strings.Join(addrs, ","))
	require.NoError(t, err)
	c.Close()
	assert.EqualValues(t, 3, late.asked.Load())
}

// TestDialUntilContextEnds: masters that are not the root yet are asked again, and again, until
// one is, or the context ends. The error then names each of them with its reason, be one listed
// twice.
func TestDialUntilContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	late, never := &candidate{becomes: 20}, &candidate{gives: cancel, up: 20}
	addrs := council(t, late, never, &candidate{})
	c, err := Dial(ctx, addrs[0])
	require.NoError(t, err)
	c.Close()
	_, err = Dial(ctx, addrs[1]+","+addrs[2]+","+addrs[1])
	require.ErrorIs(t, err, ErrNoMaster)
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, addrs[1]+": is not the root")
	assert.ErrorContains(t, err, addrs[2]+": is not the root")
	assert.EqualValues(t, 20, never.asked.Load())
}

// TestOnlyMasterSilent: the error for a single silent master names the option for several masters.
func TestOnlyMasterSilent(t *testing.T) {
	lost := council(t, nil)[0]
	ctx, cancel := context.WithTimeout(t.Context(), scheduleWithin+time.Second)
	defer cancel()
	_, err := Dial(ctx, lost)
	require.ErrorIs(t, err, ErrNoMaster)
	assert.ErrorContains(t, err, lost+": no answer within 2s: it is the only master")
	assert.ErrorContains(t, err, "gridrpc up --masters 3")
}

// TestDialStranger: if the process at the address is no master of this platform, Dial fails without
// a wait.
func TestDialStranger(t *testing.T) {
	addr := council(t, &candidate{})[0]
	other := t.TempDir()
	authority, err := link.NewAuthority("q")
	require.NoError(t, err)
	require.NoError(t, authority.Save(other))
	require.NoError(t, authority.Issue(other, link.Client, discovery.ClientName))
	t.Setenv(EnvDir, other)
	_, err = Dial(t.Context(), addr)
	require.ErrorIs(t, err, ErrDenied)
	require.ErrorIs(t, err, ErrNoMaster)
}

// TestOtherVersion: a client with another version of the wire gets ErrVersion at once.
func TestOtherVersion(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvDir, dir)
	a, err := link.NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, a.Save(dir))
	require.NoError(t, a.Issue(dir, link.Client, discovery.ClientName))
	require.NoError(t, a.Issue(dir, link.Master, "ma"))
	id, err := link.Load(dir, "ma")
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := id.NewServer() // without the services of this version
	go func() { _ = g.Serve(l) }()
	defer g.Stop()
	_, err = Dial(t.Context(), l.Addr().String())
	require.ErrorIs(t, err, ErrVersion)
	assert.ErrorContains(t, err, "speaks "+pb.Wire())
}
