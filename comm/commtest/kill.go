package commtest

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/transport"
	"github.com/goulfm/goulfm/internal/transport/hook"
)

// Kill ends the rank that w belongs to, as SIGKILL would: from here every call
// of it, in any of its goroutines, returns ErrFenced, and the goroutine that
// calls Kill ends with runtime.Goexit. Peers hear of it only from the detector.
//
// w may be any communicator of the rank. Kill panics when w is not of a Run
// that is under way.
func Kill(w *comm.Comm) {
	k, ok := living.Load(w.Engine().Proc())
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
	return runKilled(t, world{ranks: n}, victim, frame, body)
}

func runKilled(t testing.TB, w world, victim int, frame uint64, body func(ctx context.Context, w *comm.Comm)) bool {
	t.Helper()
	var reached atomic.Bool
	generous.runOn(t, w, func(k *rank, p *transport.Port) transport.Transport {
		if k.me != victim {
			return p
		}
		plan := &hook.Plan{KillAt: frame}
		plan.Kill = func() {
			reached.Store(true)
			k.freeze(plan)
		}
		return hook.New(p, plan)
	}, body)
	return reached.Load()
}

// freeze stops a rank where it stands, as a real death does, until nobody is
// left who could see what it does afterwards.
func (k *rank) freeze(plan *hook.Plan) {
	for peer := range k.run.ranks {
		plan.Cut(hook.Towards, peer)
	}
	k.run.world.Depart(k.me, true)
	for _, other := range k.run.ranks {
		if other != k {
			<-other.ended
		}
	}
	go k.die() // the caller holds the lock that this needs
}
