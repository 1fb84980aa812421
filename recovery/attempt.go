package recovery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/ulfm"
)

// attempt calls the body once and returns when the next call or the end of the program is decided.
func (r *runner) attempt(run repair.Run) {
	r.next = nil
	before := r.w
	w := r.begin(run)
	if before != nil {
		before.free() // no rank is in a call on its communicators any more
	}
	r.leaveWorld()
	r.freeOld()
	stop := w.watch()
	defer stop() // also where the goroutine ends in the body
	err := w.opened
	if err == nil {
		err = w.callBody()
	}
	r.handle(repair.Returned{Result: w.resultOf(err)})
	w.group.Wait()
	stop()
	result := w.resultOf(err)
	if of := w.groupErr(); w.resultOf(of) > result {
		err, result = of, w.resultOf(of)
	}
	quiet := repair.Quiet{Result: result}
	if result == repair.Fatal {
		r.fatal, quiet.Text = err, textOf(err)
	}
	if r.files != nil {
		r.closeOpen() // a file that an attempt has begun ends with the attempt
	}
	r.handle(quiet)
	if r.outcome != nil || r.failure != nil {
		w.free()
		return
	}
	if r.cfg.Before != nil {
		r.cfg.Before(w, err)
	}
}

// begin makes the World of an attempt on the newest communicator. The program gets a duplicate of
// that communicator, so that messages of the program and of the library never match.
func (r *runner) begin(run repair.Run) *World {
	w := &World{r: r, run: run, base: r.c}
	w.ctx, w.cancel = context.WithCancelCause(context.WithoutCancel(r.ctx))
	w.service, w.endService = context.WithCancel(context.WithoutCancel(r.ctx))
	if w.c, w.opened = w.base.Dup(uniform); w.opened == nil {
		w.revokeAll, w.freeAll = door.Family(w.c)
	}
	r.w = w
	return w
}

// leaveWorld replaces the world, which still contains the dead, by the communicator of the attempt.
// Calls that began on the world are over: a death has revoked the world.
func (r *runner) leaveWorld() {
	if r.c != r.world && engine.SucceedWorld(door.Engine(r.c)) == nil { // an error means that this process is fenced
		r.world = r.c
	}
}

// watch passes an event to the rules when the communicator of the attempt is revoked, by a death or
// by a member that has left. stop ends the watch.
func (w *World) watch() (stop func()) {
	broken, over, ended := engine.Broken(door.Engine(w.base)), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-broken:
			w.r.hearRevocation()
		case <-over:
		}
	}()
	return sync.OnceFunc(func() {
		close(over)
		<-ended
	})
}

// hearRevocation is handle for the one event that may arrive at any moment. Its only consequence is
// that the context ends.
func (r *runner) hearRevocation() {
	for _, a := range r.step(repair.Revoked{}) {
		r.perform(a)
	}
}

// end ends the context of the attempt, and the program's calls that wait without a context.
func (w *World) end() {
	w.cancel(fmt.Errorf("%w: of the ranks %v is known that they have died", errOver, w.base.FailedRanks()))
	if w.revokeAll != nil && w.base.IsRevoked() {
		w.revokeAll()
	}
}

// revoke ends the attempt at all ranks.
func (w *World) revoke() {
	_ = w.base.Revoke() // R13: it cannot fail here
	if w.revokeAll != nil {
		w.revokeAll()
	}
}

func (w *World) free() {
	w.cancel(errOver)
	w.endService()
	w.serving.Wait()
	if w.freeAll != nil {
		w.freeAll()
	}
	w.r.old = append(w.r.old, w.base)
	w.r.old = unique(w.r.old, w.r.c)
}

// callBody calls the body and turns a panic into an error.
func (w *World) callBody() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			fmt.Fprintf(os.Stderr, "goulfm: rank %d: panic: %v\n%s", w.Rank(), v, debug.Stack())
		}
	}()
	return w.r.body(w.ctx, w)
}

// textOf returns the text that a rank sends to the others for its error. The text is empty if
// another rank has the reason.
func textOf(err error) string {
	if err == ErrFiles { //nolint:errorlint // an error with a reason wraps ErrFiles
		return ""
	}
	return err.Error()
}

// resultOf classifies an error of the body.
func (w *World) resultOf(err error) repair.Result {
	again := []error{errOver, errRollback, ErrStopped, ErrReplica}
	switch {
	case err == nil:
		return repair.Finished
	case ulfm.Recoverable(err), w.ctx.Err() != nil && errors.Is(err, context.Canceled):
		return repair.Again
	}
	for _, e := range again {
		if errors.Is(err, e) {
			return repair.Again
		}
	}
	return repair.Fatal
}
