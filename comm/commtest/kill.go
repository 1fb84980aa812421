package commtest

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/hook"
)

// Kill ends the rank that w belongs to, as SIGKILL would. From here on every call of the rank, in
// any of its goroutines, returns comm.ErrFenced, and the goroutine that calls Kill ends with
// runtime.Goexit. Peers learn of the death only from the detector.
//
// w may be any communicator of the rank. Kill panics when w does not belong to a Run, or to the Run
// of a Job, in progress.
func Kill(w *comm.Comm) {
	k, ok := living.Load(door.Engine(w).Proc())
	if !ok {
		panic("commtest: Kill outside of Run")
	}
	k.(*rank).die()
	runtime.Goexit()
}

// RunKilled is Run in which the rank victim dies inside of any operation: before the frame-th frame
// (1 is the first) that it would send or receive. A frame is one unit of the transport: a header
// and bytes. All communication uses frames. The interrupted call returns after the other ranks have
// ended. From there on its calls return comm.ErrFenced, and its body should return. RunKilled
// reports whether the rank reached that frame, so that a test can try all frames:
//
//	for frame := uint64(1); commtest.RunKilled(t, n, 2, frame, body); frame++ {
//	}
func RunKilled(t testing.TB, n, victim int, frame uint64, body func(ctx context.Context, w *comm.Comm)) bool {
	t.Helper()
	return runKilled(t, generous, world{ranks: n}, victim, frame, body)
}

func runKilled(t testing.TB, l limits, w world, victim int, frame uint64, body func(ctx context.Context, w *comm.Comm)) bool {
	t.Helper()
	var reached atomic.Bool
	l.runOn(t, w, func(k *rank, end transport.End) transport.End {
		if k.me != victim {
			return end
		}
		plan := &hook.Plan{KillAt: frame}
		plan.Kill = func() {
			reached.Store(true)
			for peer := range k.run.ranks {
				plan.Cut(hook.Towards, peer)
			}
			k.freeze()
		}
		return hook.New(end, plan)
	}, body)
	return reached.Load()
}

// Freeze ends the rank that w belongs to at the current point of the calling goroutine, also in the
// middle of a call with locks held. A hook that the library calls may call Freeze. Freeze returns
// when all other ranks have ended or are frozen; every later call returns comm.ErrFenced. The other
// goroutines of the rank must be in no call: they would continue, unlike the threads of a killed
// process. Do not call Freeze in a Job: it never returns there.
func Freeze(w *comm.Comm) {
	k, ok := living.Load(door.Engine(w).Proc())
	if !ok {
		panic("commtest: Freeze outside of Run")
	}
	k.(*rank).freeze()
}

// freeze stops a rank at its current point, as a real death does, until no rank is left that could
// observe its later actions.
func (k *rank) freeze() {
	close(k.frozen)
	killed := make(chan struct{})
	go func() {
		k.proc().Kill() // the caller may hold the lock that Kill needs: then this goroutine waits for the end of the run
		close(killed)
	}()
	select {
	case <-killed: // its background loop does nothing any more
	case <-time.After(killMax):
	}
	k.run.world.Depart(k.me, true)
	for _, other := range k.run.ranks {
		if other == k {
			continue
		}
		select {
		case <-other.ended:
		case <-other.frozen:
		}
	}
}

// killMax is far above the time that Kill takes once it has the lock.
const killMax = 5 * time.Millisecond
