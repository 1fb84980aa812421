package gridrpc

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// attempt is a submission at its server. Its stream may break and be replaced while its body
// runs: what a client has to know is kept here, and any number of streams tell it.
type attempt struct {
	call    session.CallID
	number  uint32
	service string
	codec   Codec
	ctx     context.Context // of the body
	cancel  context.CancelFunc

	mu        sync.Mutex
	followers []*follower // who is told of each change
	progress  *pb.Progress
	latest    *pb.Checkpointed
	result    []byte
	failed    *pb.Failed
	done      bool
	keep      time.Duration // for which the outcome is held, from the end of the body on; 0: for its client alone
	shelved   bool          // the result is in the store
	spent     bool          // the outcome is not here any more
	withdrawn bool          // its argument has not come: there is no body
	streams   int           // that tell it
	heard     bool          // the client has the outcome, or wants none
	over      bool          // the call has ended: no other attempt will need its checkpoints
}

// limit gives the body a context, with a deadline if it has one.
func (a *attempt) limit(ctx context.Context, within time.Duration) {
	if within > 0 {
		a.ctx, a.cancel = context.WithTimeout(ctx, within)
		return
	}
	a.ctx, a.cancel = context.WithCancel(ctx)
}

// follower is a stream, or a lane of a trunk, that tells the client. poke must not block, and must
// not lock the attempt.
type follower struct{ poke func() }

// follow has somebody poked at each change, until unfollow.
func (a *attempt) follow(f *follower) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.followers = append(a.followers, f)
}

func (a *attempt) unfollow(f *follower) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.followers = slices.DeleteFunc(a.followers, func(o *follower) bool { return o == f })
}

// update changes what the client has to know.
func (a *attempt) update(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	for _, o := range a.followers {
		o.poke()
	}
}

// running describes the attempt; nil once its body has ended.
func (a *attempt) running() *pb.Running {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done || a.withdrawn {
		return nil
	}
	return &pb.Running{Call: a.call[:], Attempt: a.number, Service: a.service, Progress: a.progress, Checkpoints: a.latest.GetSeq()}
}

// end cancels the attempt: the client wants no more of it. over says that the call has ended.
func (a *attempt) end(over bool) {
	a.cancel()
	a.update(func() { a.over, a.keep = a.over || over, 0 })
}

// wasHeard notes that a client has all, or wants no more.
func (a *attempt) wasHeard() {
	a.update(func() {
		a.over = a.over || a.done
		if a.keep == 0 {
			a.heard, a.spent, a.result = true, true, nil
		}
	})
}

// isOver says whether body and call have ended.
func (a *attempt) isOver() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.done && a.over
}

// made says whether the attempt has made a checkpoint.
func (a *attempt) made() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.latest != nil
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
	latest   *pb.Checkpointed
}

// news returns the frames that are new since t, with an outcome at the end once there is one. A
// result is only announced: how it goes is the business of who tells it.
func (a *attempt) news(t *told) (frames []*pb.CallFrame, result []byte, done bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.progress != t.progress {
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Progress{Progress: a.progress}})
	}
	if a.latest != t.latest {
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Checkpointed{Checkpointed: a.latest}})
	}
	*t = told{a.progress, a.latest}
	switch {
	case a.done && a.failed != nil:
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Failed{Failed: a.failed}})
	case a.done:
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Result{Result: &pb.Result{Size: uint64(len(a.result))}}})
	}
	return frames, a.result, a.done
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
