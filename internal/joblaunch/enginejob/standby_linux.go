package enginejob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/net/bootauth"
)

// An engine may start a daemon after the world has begun, in place of a lost one or because the
// job has grown. If there is a node slot for such a daemon, it takes part as a node that comes
// late (daemonclient.Client.Invite). Otherwise it waits on standby, and ends with the exit code
// of the job: the engine takes the job for done when all daemons have ended with code 0.
//
//	pod 2      is lost; its ranks are replaced on others
//	pod 2'     introduction, of another birth   --> coordinator: the world is complete
//	           bootstrap                        <-- there is a node slot: it is a node
//	pod 2"     introduction                     --> there is no node slot any more
//	           standby                          <--
//	           asks again, ...                  --> the job has ended with code 0
//	           standby, over, 0                 <--
//	           ends with 0: the Job is complete

// A standby is the reply to such a daemon, in place of a bootstrap.
type standby struct {
	Standby bool `json:"beside"` // always
	Over    bool `json:"over"`   // the job has ended
	Code    int  `json:"code"`   // its exit code
}

// standbyFor is the time for which the coordinator delays its reply to a standby daemon, which
// asks again then.
const standbyFor = 5 * time.Second

// decodeStandby returns nil for a bootstrap.
func decodeStandby(line []byte) *standby {
	var b standby
	if json.Unmarshal(line, &b) != nil || !b.Standby {
		return nil
	}
	return &b
}

// standBy waits for the end of the job, and returns its code, or for a place, and returns its
// bootstrap. If there are no more replies, the coordinator has ended, and the exit code is
// unknown.
func (x *crossing) standBy(ctx context.Context, cs *cards) (bootstrap []byte, code int, err error) {
	proof, addrs, err := x.way(cs)
	for err == nil {
		var line []byte
		asking, stop := context.WithTimeoutCause(ctx, time.Minute, errNoCoordinator)
		in := x.introduction("")
		in.Standby = true
		line, err = bootauth.Ask(asking, addrs, x.id, proof, in.line())
		stop()
		if err != nil {
			break
		}
		b := decodeStandby(line)
		if b == nil {
			return line, 0, nil
		}
		if b.Over {
			return nil, b.Code, nil
		}
	}
	return nil, 0, fmt.Errorf("the world has begun without this node: %w", err)
}

// errNoCoordinator is the reason why a standby daemon stops waiting.
var errNoCoordinator = errors.New("its first daemon does not answer: nobody knows here how the job has ended")

// isStandby reports whether a daemon is on standby.
func (h *coordinator) isStandby(in introduction) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.register.isStandby(in) {
		return false
	}
	if _, has := h.standbys[in.Birth]; !has {
		h.standbys[in.Birth] = make(chan struct{})
	}
	return true
}

// tellStandby returns the reply to a standby daemon: that it is on standby once the world has
// begun, and that the job has ended once it has.
func (h *coordinator) tellStandby(in introduction) ([]byte, error) {
	awaitEither(h.complete, h.failing)
	h.mu.Lock()
	failed := h.failed
	h.mu.Unlock()
	if failed != nil {
		return nil, failed
	}
	if place := h.invitation(in); place != nil {
		return place, nil
	}
	b := standby{Standby: true}
	if in.Standby {
		awaitEither(h.over, time.After(standbyFor))
	}
	select {
	case <-h.over:
		b.Over, b.Code = true, h.code
		h.hearsEnd(in.Birth)
	default:
	}
	line, err := json.Marshal(b)
	if err != nil {
		panic(err) // numbers and bools always marshal
	}
	return line, nil
}

// invitation returns the bootstrap of a daemon that comes late, or nil. A daemon that asks again
// because the answer was lost gets the same bootstrap. A daemon on standby gets none if it had
// one, which led to nothing, and otherwise the first free place.
func (h *coordinator) invitation(in introduction) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	place, has := h.invited[in.Birth]
	switch {
	case has && in.Standby:
		return nil
	case !has && h.invite != nil:
		place, has = h.invite(in.Host)
	}
	if !has {
		return nil
	}
	h.invited[in.Birth] = place
	delete(h.standbys, in.Birth) // as a node it receives the end
	return place
}

func (h *coordinator) hearsEnd(birth uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	heard, waits := h.standbys[birth]
	if !waits {
		return
	}
	select {
	case <-heard:
	default:
		close(heard)
	}
}

// serve answers daemons until the returned function is called, and closes served when the last
// one has its answer.
func (h *coordinator) serve(x *crossing, proof bootauth.Proof) (stop context.CancelFunc, served <-chan struct{}) {
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = bootauth.Serve(ctx, x.listener, x.id, proof, h.answer)
	}()
	return stop, over
}

// standbyMax bounds the wait for standby daemons to receive the end: one may have died.
const standbyMax = 3 * time.Second

// end reports the end of the job to the standby daemons.
func (h *coordinator) end(code int, stop context.CancelFunc, served <-chan struct{}) {
	h.mu.Lock()
	h.code = code
	close(h.over)
	standbys := slices.Collect(maps.Values(h.standbys))
	h.mu.Unlock()
	limit, cancel := context.WithTimeout(context.Background(), standbyMax)
	defer cancel()
	for _, heard := range standbys {
		awaitEither(heard, limit.Done())
	}
	stop()
	awaitEither(served, limit.Done())
}

func awaitEither[T any](a <-chan struct{}, b <-chan T) {
	select {
	case <-a:
	case <-b:
	}
}
