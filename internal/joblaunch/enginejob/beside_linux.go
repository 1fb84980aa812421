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

// A daemon that an engine starts when the world has begun, in place of a lost one or since there
// are more now, takes part as a node that comes late (fleet.Invite) if there is a row for it. Else
// it waits beside the world, and ends with its code: the engine takes the job for done when all
// have ended well.
//
//	pod 2      is lost; its ranks are replaced on others
//	pod 2'     introduction, of another birth   --> head: the world is complete
//	           bootstrap                        <-- there is a row: it is a node
//	pod 2"     introduction                     --> there is no row any more
//	           beside                           <--
//	           asks again, ...                  --> the job has ended with code 0
//	           beside, over, 0                  <--
//	           ends with 0: the Job is complete

// A beside is what such a daemon is told, in place of a bootstrap.
type beside struct {
	Beside bool `json:"beside"` // always
	Over   bool `json:"over"`   // the job has ended
	Code   int  `json:"code"`   // with that
}

// besideFor is how long the head lets a daemon beside the world wait for news; it asks again then.
const besideFor = 5 * time.Second

// decodeBeside returns nil for what is a bootstrap.
func decodeBeside(line []byte) *beside {
	var b beside
	if json.Unmarshal(line, &b) != nil || !b.Beside {
		return nil
	}
	return &b
}

// standBeside waits for the end of the job, and returns its code; or for a place, and returns its
// bootstrap. If nobody answers any more, the head is gone, and with it what is known.
func (x *crossing) standBeside(ctx context.Context, cs *cards) (bootstrap []byte, code int, err error) {
	proof, heads, err := x.way(cs)
	for err == nil {
		var line []byte
		asking, stop := context.WithTimeoutCause(ctx, time.Minute, errNoHead)
		in := x.introduction("")
		in.Beside = true
		line, err = bootauth.Ask(asking, heads, x.id, proof, in.line())
		stop()
		if err != nil {
			break
		}
		b := decodeBeside(line)
		if b == nil {
			return line, 0, nil
		}
		if b.Over {
			return nil, b.Code, nil
		}
	}
	return nil, 0, fmt.Errorf("the world has begun without this node: %w", err)
}

// errNoHead is why a daemon beside the world stops waiting.
var errNoHead = errors.New("its first daemon does not answer: nobody knows here how the job has ended")

// isBeside says so of a daemon that asks.
func (h *head) isBeside(in introduction) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.register.isBeside(in) {
		return false
	}
	if _, has := h.besides[in.Birth]; !has {
		h.besides[in.Birth] = make(chan struct{})
	}
	return true
}

// tellBeside is the answer to it: that it is beside once the world has begun, and when it asks
// again that the job has ended.
func (h *head) tellBeside(in introduction) ([]byte, error) {
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
	b := beside{Beside: true}
	if in.Beside {
		awaitEither(h.over, time.After(besideFor))
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

// invitation returns what a daemon is to serve that comes late, or nil. One that asks again since
// the answer was lost gets it again; one that stands beside the world does so since that led to
// nothing, or there was no room.
func (h *head) invitation(in introduction) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	place, has := h.invited[in.Birth]
	switch {
	case has && in.Beside:
		return nil
	case !has && h.invite != nil:
		place, has = h.invite(in.Host)
	}
	if !has {
		return nil
	}
	h.invited[in.Birth] = place
	delete(h.besides, in.Birth) // it hears of the end as a node
	return place
}

func (h *head) hearsEnd(birth uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	heard, waits := h.besides[birth]
	if !waits {
		return
	}
	select {
	case <-heard:
	default:
		close(heard)
	}
}

// serve answers daemons until the returned function is called, and closes served when the last one
// has its answer.
func (h *head) serve(x *crossing, proof bootauth.Proof) (stop context.CancelFunc, served <-chan struct{}) {
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = bootauth.Serve(ctx, x.listener, x.id, proof, h.answer)
	}()
	return stop, over
}

// besideMax bounds the wait for those beside the job to hear of its end: one may be gone.
const besideMax = 3 * time.Second

// end tells those beside the job that it has ended.
func (h *head) end(code int, stop context.CancelFunc, served <-chan struct{}) {
	h.mu.Lock()
	h.code = code
	close(h.over)
	besides := slices.Collect(maps.Values(h.besides))
	h.mu.Unlock()
	limit, cancel := context.WithTimeout(context.Background(), besideMax)
	defer cancel()
	for _, heard := range besides {
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
