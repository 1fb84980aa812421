package server

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// debtMax is the number of lanes with news for a client at which a server stops reading its
// frames.
const debtMax = 4096

// acceptAfter is the delay of the report that a server has accepted an attempt: most attempts have
// ended by then, and the result implies the report.
const acceptAfter = time.Millisecond

// serverTrunk is the stream of one client for its small calls. One goroutine reads frames of the
// client and never waits for a body; a second goroutine writes. Large arguments and results, and
// requests that wait for a store, use streams of their own, so they delay no small call.
type serverTrunk struct {
	server *Server
	stream grpc.BidiStreamingServer[pb.CallFrames, pb.CallFrames]
	lanes  map[uint64]*serverLane // that are open; of the goroutine that reads
	wake   chan struct{}          // has one element when there is news

	mu   sync.Mutex
	news []*serverLane // in the order in which they had some
	room *sync.Cond    // there is less news than debtMax, or nobody writes any more
	over bool
}

// serverLane is one attempt in a trunk.
type serverLane struct {
	follower
	number  uint64
	attempt *attempt // nil: refused
	last    *pb.CallFrame
	accept  *time.Timer

	hasNews bool // among the news; under the lock of the trunk

	// Of the goroutine that writes.
	sent     sent
	accepted bool // reported
	done     bool // the outcome was reported
}

// Trunk serves the small calls of one client.
func (c calls) Trunk(stream grpc.BidiStreamingServer[pb.CallFrames, pb.CallFrames]) error {
	if err := link.Demand(stream.Context(), link.Client, link.Worker); err != nil {
		return err
	}
	return c.server.serveTrunk(stream)
}

func (s *Server) serveTrunk(stream grpc.BidiStreamingServer[pb.CallFrames, pb.CallFrames]) error {
	t := &serverTrunk{server: s, stream: stream, lanes: map[uint64]*serverLane{}, wake: make(chan struct{}, 1)}
	t.room = sync.NewCond(&t.mu)
	quit, written := make(chan struct{}), make(chan struct{})
	go func() { defer close(written); t.write(quit) }()
	err := t.read()
	for _, l := range t.lanes { // the client has ended, or attaches by other streams
		t.leave(l, false)
	}
	close(quit)
	<-written
	return err
}

// read handles the frames of the client, until the client ends the trunk or the trunk breaks.
func (t *serverTrunk) read() error {
	for {
		m, err := t.stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, f := range m.Frames {
			t.take(f)
		}
		t.awaitRoom()
	}
}

// take handles one frame. A frame for a lane that is not open is late: its attempt was refused, or
// this side has ended the lane.
func (t *serverTrunk) take(f *pb.CallFrame) {
	l := t.lanes[f.Lane]
	switch k := f.Kind.(type) {
	case *pb.CallFrame_Submit:
		if l == nil {
			t.begin(f.Lane, k.Submit)
		}
	case *pb.CallFrame_Cancel:
		if l != nil {
			l.attempt.end(k.Cancel.Over)
			t.leave(l, true)
		}
		t.answer(f.Lane, &pb.CallFrame{Kind: &pb.CallFrame_Ended{Ended: &pb.Ended{}}})
	case *pb.CallFrame_End:
		if l != nil {
			t.leave(l, k.End.Heard)
		}
	}
}

// begin opens a lane for a submission and starts its body, or refuses the submission.
func (t *serverTrunk) begin(number uint64, m *pb.Submit) {
	s := t.server
	if why, text := s.examine(m); why != 0 {
		t.answer(number, refusal(why, text))
		return
	}
	if m.Attach || m.Size > link.LaneMax || uint64(len(m.Argument)) != m.Size {
		t.answer(number, refusal(pb.Refusal_MALFORMED, fmt.Sprintf("a trunk is for new attempts with an argument of %d bytes at most, all of it in the first frame", link.LaneMax)))
		return
	}
	a, begins, no := s.admit(m)
	if no != nil {
		t.answer(number, no)
		return
	}
	if !begins {
		s.unattended(a)
		t.answer(number, refusal(pb.Refusal_MALFORMED, "the attempt is here already: it can be attached to by a stream of its own"))
		return
	}
	l := &serverLane{number: number, attempt: a}
	l.poke = func() { t.announce(l) }
	t.lanes[number] = l
	a.follow(&l.follower)
	l.accept = time.AfterFunc(acceptAfter, l.poke)
	go s.run(a.ctx, s.newCall(m, a), s.services[m.Service], gridrpc.Codec(m.Codec), m.Argument)
}

// leave closes a lane: the client has the outcome, needs none, or continues by another stream.
func (t *serverTrunk) leave(l *serverLane, heard bool) {
	delete(t.lanes, l.number)
	l.accept.Stop()
	a := l.attempt
	a.unfollow(&l.follower)
	if heard {
		a.wasHeard()
	}
	if a.number > 1 || a.made() {
		go t.server.cleanUp(a) // may wait for the store
	}
	if heard && t.server.forget(a) {
		return
	}
	t.server.unattended(a)
}

// answer sends one frame to a lane that is not open.
func (t *serverTrunk) answer(number uint64, f *pb.CallFrame) {
	t.announce(&serverLane{number: number, last: f})
}

// announce queues a lane with news for the writer.
func (t *serverTrunk) announce(l *serverLane) {
	t.mu.Lock()
	if !l.hasNews {
		l.hasNews = true
		t.news = append(t.news, l)
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// awaitRoom waits while a client that does not read has too many pending news. Clients read at all
// times, even while they write.
func (t *serverTrunk) awaitRoom() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.news) >= debtMax && !t.over {
		t.room.Wait()
	}
}

// write sends the news to the client, until quit is closed or the trunk breaks.
func (t *serverTrunk) write(quit <-chan struct{}) {
	defer func() {
		t.mu.Lock()
		t.over = true
		t.room.Broadcast()
		t.mu.Unlock()
	}()
	for {
		select {
		case <-t.wake:
		case <-quit:
			return
		}
		if link.SendBatches(t.stream.Send, t.frames()) != nil {
			return
		}
	}
}

// frames returns the frames for all news.
func (t *serverTrunk) frames() (all []*pb.CallFrame) {
	t.mu.Lock()
	list := t.news
	t.news = nil
	for _, l := range list {
		l.hasNews = false
	}
	t.room.Broadcast()
	t.mu.Unlock()
	for _, l := range list {
		for _, f := range l.frames() {
			f.Lane = l.number
			all = append(all, f)
		}
	}
	return all
}

// frames returns the frames for the news of the lane.
func (l *serverLane) frames() (frames []*pb.CallFrame) {
	if l.attempt == nil {
		return []*pb.CallFrame{l.last}
	}
	if l.done {
		return nil
	}
	news, result, done := l.attempt.news(&l.sent)
	if l.done = done; !l.accepted && !done {
		l.accepted = true
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Accepted{Accepted: &pb.Accepted{}}})
	}
	frames = append(frames, news...)
	if done && len(result) <= link.LaneMax {
		if r := news[len(news)-1].GetResult(); r != nil {
			r.Body = result
		}
	}
	return frames
}
