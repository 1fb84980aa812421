package gridrpc

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Bounds of trunks, for both sides.
const (
	laneMax  = 64 << 10 // bytes of an argument or a result that goes through a trunk
	batchMax = 1 << 20  // bytes of a message, and one frame more: gRPC takes 4 MiB
	debtMax  = 4096     // lanes that a server has something to tell, until it reads on
)

// acceptAfter is how long a server waits until it says that it has accepted an attempt: most have
// ended by then, and the result says so, too.
const acceptAfter = time.Millisecond

// serverTrunk is the stream of one client for its small calls. One goroutine reads what the client
// says and never waits for a body; another one writes. What is large, and whatever has to be waited
// for (a store), goes by streams of their own, so nobody's small call is behind it.
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
	attempt *attempt // nil: it was refused
	last    *pb.CallFrame
	accept  *time.Timer

	hasNews bool // it is among the news; under the lock of the trunk

	// Of the goroutine that writes.
	told     told
	accepted bool // told
	done     bool // all is told
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
	for _, l := range t.lanes { // the client is gone, or comes again by other streams
		t.leave(l, false)
	}
	close(quit)
	<-written
	return err
}

// read takes what the client says, until it ends the trunk or the trunk breaks.
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

// take does what one frame says. One of a lane that is not open is late: its attempt was refused,
// or the lane was ended from here.
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

// begin opens a lane for a submission, and starts its body; or refuses it.
func (t *serverTrunk) begin(number uint64, m *pb.Submit) {
	s := t.server
	if why, text := s.examine(m); why != 0 {
		t.answer(number, refusal(why, text))
		return
	}
	if m.Attach || m.Size > laneMax || uint64(len(m.Argument)) != m.Size {
		t.answer(number, refusal(pb.Refusal_MALFORMED, fmt.Sprintf("a trunk is for new attempts with an argument of %d bytes at most, all of it in the first frame", laneMax)))
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
	l.poke = func() { t.tell(l) }
	t.lanes[number] = l
	a.follow(&l.follower)
	l.accept = time.AfterFunc(acceptAfter, l.poke)
	go s.run(a.ctx, s.newCall(m, a), s.services[m.Service], Codec(m.Codec), m.Argument)
}

// leave closes a lane: the client has heard the outcome or wants no more; or it goes on by another
// stream.
func (t *serverTrunk) leave(l *serverLane, heard bool) {
	delete(t.lanes, l.number)
	l.accept.Stop()
	a := l.attempt
	a.unfollow(&l.follower)
	if heard {
		a.wasHeard()
	}
	if a.number > 1 || a.made() {
		go t.server.cleanUp(a) // it may wait for the store
	}
	if heard && t.server.forget(a) {
		return
	}
	t.server.unattended(a)
}

// answer says one thing to a lane that is not open.
func (t *serverTrunk) answer(number uint64, f *pb.CallFrame) {
	t.tell(&serverLane{number: number, last: f})
}

// tell has the client told what is new in a lane.
func (t *serverTrunk) tell(l *serverLane) {
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

// awaitRoom waits while a client that does not read is owed too much. Clients always read, whatever
// they write.
func (t *serverTrunk) awaitRoom() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.news) >= debtMax && !t.over {
		t.room.Wait()
	}
}

// write tells the client what is new, until quit is closed or the trunk breaks.
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
		if sendBatches(t.stream.Send, t.frames()) != nil {
			return
		}
	}
}

// frames returns all that is new.
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

// frames returns what is new in the lane.
func (l *serverLane) frames() (frames []*pb.CallFrame) {
	if l.attempt == nil {
		return []*pb.CallFrame{l.last}
	}
	if l.done {
		return nil
	}
	news, result, done := l.attempt.news(&l.told)
	if l.done = done; !l.accepted && !done {
		l.accepted = true
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Accepted{Accepted: &pb.Accepted{}}})
	}
	frames = append(frames, news...)
	if done && len(result) <= laneMax {
		if r := news[len(news)-1].GetResult(); r != nil {
			r.Body = result
		}
	}
	return frames
}

// sendBatches sends frames in as few messages as they fit in.
func sendBatches(send func(*pb.CallFrames) error, frames []*pb.CallFrame) error {
	for len(frames) > 0 {
		n, bytes := 0, 0
		for n < len(frames) && bytes < batchMax {
			bytes += proto.Size(frames[n])
			n++
		}
		if err := send(&pb.CallFrames{Frames: frames[:n]}); err != nil {
			return err
		}
		frames = frames[n:]
	}
	return nil
}
