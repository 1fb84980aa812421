package server

import (
	"context"
	"io"
	"log"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/codec"
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

// trialServer has the services echo, and hold, which ends with its context.
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
	data, err := codec.Encode(codec.JSON, &in)
	require.NoError(t, err)
	m := &pb.Submit{Call: make([]byte, 16), Attempt: attempt, Service: service, Codec: codec.JSON, Size: uint64(len(data)), Argument: data}
	m.Call[0] = byte(lane)
	return &pb.CallFrame{Lane: lane, Kind: &pb.CallFrame_Submit{Submit: m}}
}

// ending is the report of the client that the outcome in a lane was received.
func ending(lane uint64) *pb.CallFrame {
	return &pb.CallFrame{Lane: lane, Kind: &pb.CallFrame_End{End: &pb.End{Heard: true}}}
}

// TestTrunkForgets: a server forgets a first attempt whose outcome was received. A later attempt
// is remembered, so that an earlier attempt, late on its way, does not run (S1).
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

// TestTrunkCancelsOne: the server confirms a cancelled call, and the other calls continue.
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
	close(c.in) // the client has ended: a while later its other call is cancelled
	require.NoError(t, <-c.ended)
	second.mu.Lock()
	defer second.mu.Unlock()
	assert.Zero(t, second.streams)
}

// TestTrunkRefuses: a submission that does not belong into a trunk is refused, and takes no place.
func TestTrunkRefuses(t *testing.T) {
	s := trialServer(t.Context())
	c := dialTrunk(t, s)
	attached, short, nobody := submission(t, 1, 1, "echo", "x"), submission(t, 2, 1, "echo", "x"), submission(t, 3, 1, "none", "x")
	attached.GetSubmit().Attach = true
	short.GetSubmit().Size++
	large := submission(t, 4, 1, "echo", string(make([]byte, link.LaneMax)))
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

// FuzzTrunk: with any frames of a client, the server lives, and frees all places after the end of
// the client.
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
