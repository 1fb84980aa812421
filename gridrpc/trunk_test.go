package gridrpc

import (
	"context"
	"io"
	"log"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// trialTrunk is a trunk whose client is the test.
type trialTrunk struct {
	grpc.ServerStream
	ctx   context.Context
	in    chan *pb.CallFrames
	out   chan *pb.CallFrame
	ended chan error
}

func (s *trialTrunk) Recv() (*pb.CallFrames, error) {
	if m, ok := <-s.in; ok {
		return m, nil
	}
	return nil, io.EOF
}

func (s *trialTrunk) Send(m *pb.CallFrames) error {
	for _, f := range m.Frames {
		select {
		case s.out <- f:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	return nil
}

// trialServer has the services echo, and hold, which ends when its context does.
func trialServer(ctx context.Context) *Server {
	s := &Server{
		Places: 2, Queue: 2, services: map[string]*service{}, me: &pb.Ref{Name: "s1"}, log: log.New(io.Discard, "", 0), ctx: ctx,
		news: make(chan struct{}, 1), slots: make(chan struct{}, 2), desk: session.Desk{Places: 4},
		attempts: map[session.CallID]*attempt{}, keeps: map[session.CallID]*attempt{},
	}
	echo := func(_ context.Context, _ *Call, in *string) (*string, error) { return in, nil }
	hold := func(ctx context.Context, c *Call, in *string) (*string, error) {
		c.Progress(1, 2, "\xff holds")
		<-ctx.Done()
		return nil, ctx.Err()
	}
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(Register(s, "echo", echo))
	must(Register(s, "hold", hold))
	return s
}

// dialTrunk opens a trunk to a server.
func dialTrunk(t *testing.T, s *Server) *trialTrunk {
	stream := &trialTrunk{ctx: t.Context(), in: make(chan *pb.CallFrames), out: make(chan *pb.CallFrame, 64), ended: make(chan error, 1)}
	go func() { stream.ended <- s.serveTrunk(stream) }()
	return stream
}

func (s *trialTrunk) say(frames ...*pb.CallFrame) { s.in <- &pb.CallFrames{Frames: frames} }

// next returns the next frame but Accepted, which may be left out.
func (s *trialTrunk) next() *pb.CallFrame {
	for {
		if f := <-s.out; f.GetAccepted() == nil {
			return f
		}
	}
}

// submission is one of a call with a small argument, in a lane of the same number.
func submission(t *testing.T, lane uint64, attempt uint32, service, in string) *pb.CallFrame {
	data, err := encode(JSON, &in)
	require.NoError(t, err)
	m := &pb.Submit{Call: make([]byte, 16), Attempt: attempt, Service: service, Codec: string(JSON), Size: uint64(len(data)), Argument: data}
	m.Call[0] = byte(lane)
	return &pb.CallFrame{Lane: lane, Kind: &pb.CallFrame_Submit{Submit: m}}
}

// ending is the client's word that it has heard the outcome in a lane.
func ending(lane uint64) *pb.CallFrame {
	return &pb.CallFrame{Lane: lane, Kind: &pb.CallFrame_End{End: &pb.End{Heard: true}}}
}

// TestTrunkForgets: of a first attempt that was heard nothing is left; a later one is remembered,
// so that one before it, late on its way, does not run (S1).
func TestTrunkForgets(t *testing.T) {
	s := trialServer(t.Context())
	c := dialTrunk(t, s)
	c.say(submission(t, 1, 1, "echo", "one"), submission(t, 2, 2, "echo", "two"))
	got := map[uint64]string{}
	for range 2 {
		f := c.next()
		require.NotNil(t, f.GetResult(), "%v", f)
		got[f.Lane] = string(f.GetResult().Body)
	}
	assert.Equal(t, map[uint64]string{1: `"one"`, 2: `"two"`}, got)
	c.say(ending(1), ending(2), ending(7))
	close(c.in)
	require.NoError(t, <-c.ended)
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.Len(t, s.attempts, 1)
	assert.Equal(t, session.TooOld, s.desk.Submit(session.CallID{2}, 1, 0, false))
	assert.Equal(t, 4, s.desk.Free())
}

// TestTrunkCancelsOne: who cancels one call is told when that is known, and the others go on.
func TestTrunkCancelsOne(t *testing.T) {
	s := trialServer(t.Context())
	c := dialTrunk(t, s)
	c.say(submission(t, 1, 1, "hold", ""), submission(t, 2, 1, "hold", ""))
	for range 2 {
		assert.Equal(t, "\uFFFD holds", c.next().GetProgress().GetText())
	}
	c.say(&pb.CallFrame{Lane: 1, Kind: &pb.CallFrame_Cancel{Cancel: &pb.Cancel{Over: true}}})
	f := c.next()
	if f.GetFailed() != nil { // the body may have ended before the lane was closed
		f = c.next()
	}
	assert.NotNil(t, f.GetEnded(), "%v", f)
	assert.EqualValues(t, 1, f.Lane)
	s.mu.Lock()
	first, second := s.attempts[session.CallID{1}], s.attempts[session.CallID{2}]
	s.mu.Unlock()
	<-first.ctx.Done()
	require.NoError(t, second.ctx.Err())
	close(c.in) // the client is gone: a while later its other call is cancelled
	require.NoError(t, <-c.ended)
	second.mu.Lock()
	defer second.mu.Unlock()
	assert.Zero(t, second.streams)
}

// TestTrunkRefuses: what does not belong into a trunk is refused, and no place is taken.
func TestTrunkRefuses(t *testing.T) {
	s := trialServer(t.Context())
	c := dialTrunk(t, s)
	attached, short, nobody := submission(t, 1, 1, "echo", "x"), submission(t, 2, 1, "echo", "x"), submission(t, 3, 1, "none", "x")
	attached.GetSubmit().Attach = true
	short.GetSubmit().Size++
	large := submission(t, 4, 1, "echo", string(make([]byte, laneMax)))
	c.say(attached, short, nobody, large)
	for range 4 {
		assert.NotNil(t, c.next().GetRefusal())
	}
	c.say(submission(t, 5, 1, "hold", ""))
	assert.NotNil(t, c.next().GetProgress())
	again := submission(t, 5, 1, "hold", "")
	again.Lane = 6
	c.say(again)
	f := c.next()
	assert.EqualValues(t, 6, f.Lane)
	assert.Equal(t, pb.Refusal_MALFORMED, f.GetRefusal().GetWhy())
	s.mu.Lock()
	assert.Equal(t, 3, s.desk.Free())
	s.mu.Unlock()
	close(c.in)
	require.NoError(t, <-c.ended)
}

// TestBatches: all frames are sent, in order, in messages that gRPC takes.
func TestBatches(t *testing.T) {
	var frames []*pb.CallFrame
	for i := range 100 {
		frames = append(frames, &pb.CallFrame{Lane: uint64(i), Kind: &pb.CallFrame_Result{Result: &pb.Result{Body: make([]byte, i%3*laneMax/2)}}})
	}
	var sent []*pb.CallFrame
	messages := 0
	require.NoError(t, sendBatches(func(m *pb.CallFrames) error {
		assert.Less(t, proto.Size(m), 2<<20)
		sent = append(sent, m.Frames...)
		messages++
		return nil
	}, frames))
	assert.Equal(t, frames, sent)
	assert.Less(t, messages, 5)
}

// FuzzTrunk: whatever a client says, the server lives, and gives all places back when the client is
// gone.
func FuzzTrunk(f *testing.F) {
	seed := &pb.CallFrames{Frames: []*pb.CallFrame{
		{Lane: 1, Kind: &pb.CallFrame_Submit{Submit: &pb.Submit{Call: make([]byte, 16), Attempt: 1, Service: "echo", Codec: "json", Size: 2, Argument: []byte(`""`)}}},
		{Lane: 1, Kind: &pb.CallFrame_Cancel{Cancel: &pb.Cancel{}}},
		{Lane: 1, Kind: &pb.CallFrame_End{End: &pb.End{}}},
		{Lane: 2, Kind: &pb.CallFrame_Data{Data: &pb.Data{}}},
		{},
	}}
	for n := range len(seed.Frames) + 1 {
		data, err := proto.Marshal(&pb.CallFrames{Frames: seed.Frames[:n]})
		assert.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m pb.CallFrames
		if proto.Unmarshal(data, &m) != nil {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		s := trialServer(ctx)
		c := &trialTrunk{ctx: ctx, in: make(chan *pb.CallFrames, 1), out: make(chan *pb.CallFrame, 2*len(m.Frames)+1)}
		c.in <- &m
		close(c.in)
		assert.NoError(t, s.serveTrunk(c))
		cancel() // of the bodies
		assert.Eventually(t, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.desk.Free() == 4
		}, time.Minute, time.Millisecond)
	})
}

// TestOtherVersion: a client of another version of the wire is told so at once.
func TestOtherVersion(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvDir, dir)
	a, err := link.NewAuthority("p")
	require.NoError(t, err)
	require.NoError(t, a.Save(dir))
	require.NoError(t, a.Issue(dir, link.Client, clientName))
	require.NoError(t, a.Issue(dir, link.Master, "ma"))
	id, err := link.Load(dir, "ma")
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := id.NewServer() // it knows nothing of this version
	go func() { _ = g.Serve(l) }()
	defer g.Stop()
	_, err = Dial(t.Context(), l.Addr().String())
	require.ErrorIs(t, err, ErrVersion)
	assert.ErrorContains(t, err, "speaks "+pb.Wire())
}
