package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// attempt is a submission at its server. Its stream may break and be replaced while its body
// runs: the attempt holds the state for its client, and any number of streams send that state.
type attempt struct {
	call    session.CallID
	number  uint32
	service string
	codec   gridrpc.Codec
	ctx     context.Context // of the body
	cancel  context.CancelFunc

	mu        sync.Mutex
	followers []*follower // to be notified of each change
	progress  *pb.Progress
	latest    *pb.Checkpointed
	result    []byte
	failed    *pb.Failed
	done      bool
	keep      time.Duration // of the outcome, from the end of the body; 0: for its client alone
	shelved   bool          // the result is in the store
	spent     bool          // the outcome is not here any more
	withdrawn bool          // its argument has not come: there is no body
	streams   int           // that send the state
	heard     bool          // the client has the outcome, or needs none
	over      bool          // the call has ended: no other attempt will need its checkpoints
}

// limit sets the context of the body, with a deadline if within is above 0.
func (a *attempt) limit(ctx context.Context, within time.Duration) {
	if within > 0 {
		a.ctx, a.cancel = context.WithTimeout(ctx, within)
		return
	}
	a.ctx, a.cancel = context.WithCancel(ctx)
}

// follower is a stream, or a lane of a trunk, that sends the state to the client. poke must not
// block, and must not lock the attempt.
type follower struct{ poke func() }

// follow adds a follower, which is poked at each change until unfollow.
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

// update changes the state, and notifies the followers.
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

// end cancels the attempt on request of the client. over reports that the call has ended.
func (a *attempt) end(over bool) {
	a.cancel()
	a.update(func() { a.over, a.keep = a.over || over, 0 })
}

// wasHeard notes that a client has the outcome, or needs none.
func (a *attempt) wasHeard() {
	a.update(func() {
		a.over = a.over || a.done
		if a.keep == 0 {
			a.heard, a.spent, a.result = true, true, nil
		}
	})
}

// isOver reports whether body and call have ended.
func (a *attempt) isOver() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.done && a.over
}

// made reports whether the attempt has made a checkpoint.
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

// sent is the part of the state that a stream has sent.
type sent struct {
	progress *pb.Progress
	latest   *pb.Checkpointed
}

// news returns the frames that are new since t, with an outcome at the end once there is one. A
// frame only announces a result; the caller sends its bytes.
func (a *attempt) news(t *sent) (frames []*pb.CallFrame, result []byte, done bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.progress != t.progress {
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Progress{Progress: a.progress}})
	}
	if a.latest != t.latest {
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Checkpointed{Checkpointed: a.latest}})
	}
	*t = sent{a.progress, a.latest}
	switch {
	case a.done && a.failed != nil:
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Failed{Failed: a.failed}})
	case a.done:
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Result{Result: &pb.Result{Size: uint64(len(a.result))}}})
	}
	return frames, a.result, a.done
}
