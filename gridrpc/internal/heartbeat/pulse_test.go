package heartbeat

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// within bounds the waits of a test. No test measures this time.
const within = time.Minute

// observed is a process that is observed. Its heartbeats can be exchanged for those of a process
// that knows no observer.
type observed struct {
	pb.UnimplementedNodeServer
	id    *link.Identity
	me    *pb.Ref
	pulse atomic.Pointer[Pulse]
	calls atomic.Int32 // of Beats
	open  atomic.Int32
}

// Beats counts the call as open first. In the other order a test could read between the two counts
// that there was a call and that none is open, before Serve has begun:
//
//	server: calls = 1                                  open = 1, Serve
//	test:               1 call, 0 open: it has ended
func (o *observed) Beats(stream Stream) error {
	o.open.Add(1)
	o.calls.Add(1)
	defer o.open.Add(-1)
	return o.pulse.Load().Serve(stream)
}

func (o *observed) Probe(context.Context, *pb.ProbeRequest) (*pb.ProbeReply, error) {
	return &pb.ProbeReply{Me: o.me}, nil
}

// begin makes the process send beats from a new socket.
func (o *observed) begin(t *testing.T) {
	p, err := New(o.id, o.me)
	require.NoError(t, err)
	o.pulse.Store(p)
	t.Cleanup(p.Close)
}

func startObserved(t *testing.T) (*observed, *Pulse) {
	dir := t.TempDir()
	a, err := link.NewAuthority("pulse")
	require.NoError(t, err)
	require.NoError(t, a.Save(dir))
	require.NoError(t, a.Issue(dir, link.Worker, "worker"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	id, err := link.Load(dir, "worker")
	require.NoError(t, err)
	o := &observed{id: id, me: &pb.Ref{Name: "s1", Incarnation: 7, Addr: l.Addr().String()}}
	o.begin(t)
	g := id.NewServer()
	pb.RegisterNodeServer(g, o)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	p, err := NewObserver(id, "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return o, p
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	for end := time.Now().Add(within); !holds(); runtime.Gosched() {
		require.True(t, time.Now().Before(end), what)
	}
}

// TestConnectionEnds: once beats arrive as datagrams the connection ends, and beats continue.
func TestConnectionEnds(t *testing.T) {
	o, p := startObserved(t)
	w, err := p.Watch(o.me, adaptive.QoS{Detection: adaptive.Second}, func(n beat.Event) { assert.NotEqual(t, beat.Dead, n.Kind) })
	require.NoError(t, err)
	eventually(t, "the connection to end", func() bool { return o.calls.Load() > 0 && o.open.Load() == 0 })
	from := o.pulse.Load().Emitting()
	require.Equal(t, 1, from, "the observer is known")
	w.End()
	eventually(t, "the observer to be forgotten", func() bool { return o.pulse.Load().Emitting() == 0 })
}

// TestIntroducedAnew: a live process that has forgotten its observer is introduced again instead of
// declared dead.
func TestIntroducedAnew(t *testing.T) {
	o, p := startObserved(t)
	news := make(chan beat.Event, 1000)
	_, err := p.Watch(o.me, adaptive.QoS{Detection: 3 * adaptive.Second}, func(n beat.Event) { news <- n }) // 1 s ends in a death on a busy machine
	require.NoError(t, err)
	eventually(t, "the connection to end", func() bool { return o.calls.Load() > 0 && o.open.Load() == 0 })
	before := o.calls.Load() // more than one if this process was not scheduled for so long that heartbeats seemed to be lost
	old := o.pulse.Load()
	o.begin(t)
	old.Close()
	eventually(t, "another introduction", func() bool { return o.calls.Load() > before && o.open.Load() == 0 })
	eventually(t, "trust", func() bool { return !p.Watched()[0].Suspected })
	for len(news) > 0 {
		assert.NotEqual(t, beat.Dead, (<-news).Kind)
	}
}
