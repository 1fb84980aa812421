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

// Kill ends the rank that w belongs to, as SIGKILL would: from here every call
// of it, in any of its goroutines, returns ErrFenced, and the goroutine that
// calls Kill ends with runtime.Goexit. Peers hear of it only from the detector.
//
// w may be any communicator of the rank. Kill panics when w is not of a Run
// that is under way.
func Kill(w *comm.Comm) {
	k, ok := living.Load(door.Engine(w).Proc())
	if !ok {
		panic("commtest: Kill outside of Run")
	}
	k.(*rank).die()
	runtime.Goexit()
}

// RunKilled is Run in which one rank dies before the frame-th frame (1 is the
// first) that it would send or take, wherever that is: inside of any operation.
// Its calls return ErrFenced from there on, and its body should return. It
// reports whether the rank came that far, so that a test can go through all
// frames until it does not:
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

// Freeze ends the rank that w belongs to where the calling goroutine stands, be it in the
// middle of a call, with locks held: for hooks that the library calls. It returns when all
// other ranks have ended or are frozen; every call returns ErrFenced from there on. The
// rank's other goroutines must be in no call: they would go on, as threads of a killed
// process do not.
func Freeze(w *comm.Comm) {
	k, ok := living.Load(door.Engine(w).Proc())
	if !ok {
		panic("commtest: Freeze outside of Run")
	}
	k.(*rank).freeze()
}

// freeze stops a rank where it stands, as a real death does, until nobody is
// left who could see what it does afterwards.
func (k *rank) freeze() {
	close(k.frozen)
	killed := make(chan struct{})
	go func() {
		k.proc().Kill() // the caller may hold the lock that this needs: then it waits for the end, like all else
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

// killMax is far above what Kill takes when it gets the lock.
const killMax = 5 * time.Millisecond
