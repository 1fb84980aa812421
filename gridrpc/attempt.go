package gridrpc

import (
	"context"
	"sync"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// attempt is a submission at its server. Its stream may break and be replaced while its body
// runs: what a client has to know is kept here, and any number of streams tell it.
type attempt struct {
	call   session.CallID
	number uint32
	cancel context.CancelFunc

	mu        sync.Mutex
	changed   chan struct{} // closed at each change
	progress  *pb.Progress
	result    []byte
	failed    *pb.Failed
	done      bool
	withdrawn bool // its argument has not come: there is no body
	streams   int  // that tell it
	heard     bool // the client has the outcome, or wants none
}

// update changes what the client has to know.
func (a *attempt) update(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *attempt) isWithdrawn() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.withdrawn
}

// finish is the end of the body.
func (a *attempt) finish(out []byte, failed *pb.Failed) {
	a.update(func() { a.done, a.result, a.failed = true, out, failed })
}

// told is what a stream has told of an attempt.
type told struct {
	progress *pb.Progress
}

// news returns the frames that are new since t, whether they are the last ones, and what is
// closed when there are more.
func (a *attempt) news(t *told) (frames []*pb.CallFrame, last bool, more <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.progress != t.progress {
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Progress{Progress: a.progress}})
	}
	t.progress = a.progress
	switch {
	case a.done && a.failed != nil:
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Failed{Failed: a.failed}})
	case a.done:
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Result{Result: &pb.Result{Size: uint64(len(a.result))}}})
		frames = append(frames, pieces(a.result)...)
	}
	return frames, a.done, a.changed
}

// pieceMax is how many bytes one frame carries.
const pieceMax = 256 << 10

// pieces cuts bytes into frames.
func pieces(data []byte) []*pb.CallFrame {
	var frames []*pb.CallFrame
	for len(data) > 0 {
		n := min(len(data), pieceMax)
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Data{Data: &pb.Data{Body: data[:n]}}})
		data = data[n:]
	}
	return frames
}
