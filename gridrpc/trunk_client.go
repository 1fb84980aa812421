package gridrpc

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// endWithin bounds the delay of the acknowledgement of an outcome. It is sent with the next call,
// if there is one until then.
const endWithin = 10 * time.Millisecond

// clientTrunk carries the small calls of a client to the process at an address, until it breaks or
// is not used any more. One goroutine reads and one writes; neither ever waits for a call.
type clientTrunk struct {
	client *Client
	addr   string
	ctx    context.Context
	cancel context.CancelFunc
	wake   chan struct{} // has one element when there is something to send
	ended  chan struct{} // closed when the stream is over

	mu      sync.Mutex
	lanes   map[uint64]*clientLane
	number  uint64          // of the latest lane
	out     []*pb.CallFrame // to be sent
	ends    []*pb.CallFrame // to be sent with the next frames, or soon
	soon    bool            // a timer for them runs
	retired bool            // there will be no new lane
	leaving bool            // no further frames follow those in out and ends
	over    bool            // the stream has ended: no frames are sent any more
}

// clientLane is an attempt in a trunk.
type clientLane struct {
	flight *flight
	line   *line
	submit *pb.Submit
}

// trunk returns the trunk to an address.
func (c *Client) trunk(addr string) *clientTrunk {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.trunks[addr]
	if t == nil {
		t = &clientTrunk{client: c, addr: addr, lanes: map[uint64]*clientLane{}, wake: make(chan struct{}, 1), ended: make(chan struct{})}
		t.ctx, t.cancel = context.WithCancel(context.Background())
		c.trunks[addr] = t
		go t.run()
	}
	return t
}

// retire refuses new lanes in the trunk, and ends it when all its lanes are over.
func (t *clientTrunk) retire() {
	c := t.client
	c.mu.Lock()
	if c.trunks[t.addr] == t {
		delete(c.trunks, t.addr)
	}
	c.seats.Drop(t.addr)
	c.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retired = true
	if len(t.lanes) == 0 {
		t.cancel()
	}
}

// submit sends an attempt by the trunk to its server.
func (c *Client) submit(addr string, l *clientLane) {
	for !c.trunk(addr).open(l) { // it has just ended
	}
}

// open begins a lane, unless the trunk takes no new ones.
func (t *clientTrunk) open(l *clientLane) bool {
	l.line.mu.Lock()
	defer l.line.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.retired || t.over {
		return false
	}
	t.number++
	t.lanes[t.number] = l
	l.line.trunk, l.line.lane = t, t.number
	t.send(&pb.CallFrame{Lane: t.number, Kind: &pb.CallFrame_Submit{Submit: l.submit}})
	return true
}

// send queues a frame. The caller holds mu.
func (t *clientTrunk) send(f *pb.CallFrame) {
	t.out = append(t.out, f)
	t.hurry()
}

func (t *clientTrunk) hurry() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// close ends a lane whose outcome is known.
func (t *clientTrunk) close(number uint64, heard bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.remove(number) {
		t.ends = append(t.ends, &pb.CallFrame{Lane: number, Kind: &pb.CallFrame_End{End: &pb.End{Heard: heard}}})
	}
	if !t.soon {
		t.soon = true
		time.AfterFunc(endWithin, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.soon = false
			t.hurry()
		})
	}
}

// remove removes a lane, and reports whether it was there. The caller holds mu.
func (t *clientTrunk) remove(number uint64) bool {
	was := t.lanes[number] != nil
	delete(t.lanes, number)
	if t.retired && !t.leaving && len(t.lanes) == 0 {
		t.cancel()
	}
	return was
}

// abandon cancels a lane, and reports whether its server will answer: not if the submission was not
// sent yet.
func (t *clientTrunk) abandon(number uint64, over bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.lanes[number] == nil {
		return false
	}
	for i, f := range t.out {
		if f.Lane == number && f.GetSubmit() != nil {
			t.out = append(t.out[:i:i], t.out[i+1:]...)
			t.remove(number)
			return false
		}
	}
	t.send(&pb.CallFrame{Lane: number, Kind: &pb.CallFrame_Cancel{Cancel: &pb.Cancel{Over: over}}})
	return true
}

// drop removes a lane whose server is slow to answer.
func (t *clientTrunk) drop(number uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(number)
}

// run serves the stream until it is over. Lanes that are open then have a broken stream.
func (t *clientTrunk) run() {
	err := t.speak()
	t.retire()
	t.mu.Lock()
	left := t.lanes
	t.over, t.lanes, t.out, t.ends = true, nil, nil, nil
	t.mu.Unlock()
	t.cancel()
	close(t.ended)
	if len(left) == 0 {
		return
	}
	why := t.client.whyLost(t.addr, err)
	for _, l := range left {
		if l.line.leaveTrunk(false) {
			l.line.cancel()
			continue
		}
		l.flight.broke(l.line, l.submit.Attempt, why)
	}
}

// leave sends the remaining frames, and ends the stream.
func (t *clientTrunk) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retired, t.leaving = true, true
	t.hurry()
}

func (t *clientTrunk) speak() error {
	conn, err := t.client.conn(t.addr, link.Worker)
	if err != nil {
		return err
	}
	stream, err := pb.NewServerClient(conn).Trunk(t.ctx)
	if err != nil {
		return err
	}
	go t.write(stream)
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, f := range m.Frames {
			t.hear(f)
		}
	}
}

// write sends queued frames. Reading the stream returns the errors.
func (t *clientTrunk) write(stream grpc.BidiStreamingClient[pb.CallFrames, pb.CallFrames]) {
	for {
		select {
		case <-t.wake:
		case <-t.ctx.Done():
			return
		}
		frames, leaving := t.take()
		if link.SendBatches(stream.Send, frames) != nil {
			return
		}
		if leaving {
			_ = stream.CloseSend()
			return
		}
	}
}

// take returns the frames to send now, and whether they are the last ones.
func (t *clientTrunk) take() ([]*pb.CallFrame, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	frames := append(t.ends, t.out...) // the server has room before it gets more
	t.ends, t.out = nil, nil
	return frames, t.leaving
}

// hear gives a frame to its call, without waiting.
func (t *clientTrunk) hear(f *pb.CallFrame) {
	t.mu.Lock()
	l := t.lanes[f.Lane]
	t.mu.Unlock()
	if l == nil {
		return // the call is over
	}
	attempt := l.submit.Attempt
	switch k := f.Kind.(type) {
	case *pb.CallFrame_Ended:
		t.drop(f.Lane)
		l.line.cancel()
	case *pb.CallFrame_Result:
		if l.line.isAbandoned() {
			return // Ended follows
		}
		if uint64(len(k.Result.Body)) == k.Result.Size {
			l.flight.succeed(l.line, attempt, k.Result.Body)
			t.close(f.Lane, true)
			l.line.cancel()
			return
		}
		// The result is too large for a trunk: a stream of its own fetches it. The lane ends only
		// after that stream was begun, and the server keeps the result for a while.
		l.line.leaveTrunk(true)
		l.submit.Attach, l.submit.Argument = true, nil
		go l.flight.carry(l.line, t.addr, l.submit)
		t.close(f.Lane, false)
	default:
		if l.flight.hear(l.line, attempt, f) {
			t.close(f.Lane, true)
			l.line.cancel()
		}
	}
}
