package commtest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/commhooks"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
)

// limits are the time limits of a Run.
type limits struct {
	// run limits the whole Run: after it the test fails with a list of all waiting calls, and the
	// context of body ends.
	run time.Duration
	// grace is the time that ranks have to return once their context is over. Ranks that still wait
	// did not pass the context on; they are fenced.
	grace time.Duration
	// ending is the time that goroutines without further work have to end: they need to be
	// scheduled once more.
	ending time.Duration
}

// generous is far above the needs of a test, so that a loaded machine does not exceed it.
var generous = limits{run: time.Minute, grace: 2 * time.Second, ending: time.Minute}

// spinPolls is the number of polls of a waiting rank before it sleeps: ranks outnumber cores in a
// test.
const spinPolls = 20

// Run calls body as n ranks, each in a goroutine with the world communicator of its own. Run waits
// until all ranks have ended and no goroutine of them is left. After a minute the test fails with a
// list of all waiting calls, and ctx ends.
//
// Ranks that return from body are finalized, all together. A body that panics or ends its goroutine
// (t.Fatal) fails the test with its rank. Its process counts as dead then, so that the others do
// not wait for it. Goroutines that body starts must have ended when it returns.
func Run(t testing.TB, n int, body func(ctx context.Context, w *comm.Comm)) {
	t.Helper()
	Config{}.Run(t, n, body)
}

// A wrapper wraps the port of a rank to observe all of its frames. With a wrapper all ranks use
// frames for everything. Nil: the port is used as it is.
type wrapper func(k *rank, p transport.End) transport.End

func (l limits) runOn(t testing.TB, w world, wrap wrapper, body func(ctx context.Context, w *comm.Comm)) {
	t.Helper()
	labelled(l.ending, func(ctx context.Context, left func() string) {
		r := newRun(w.ranks, l)
		r.join(wrap, w)
		r.all(ctx, t, body)
		if stacks := left(); stacks != "" {
			t.Errorf("goroutines left behind:\n%s", stacks)
		}
	})
}

// A run is one call of Run.
type run struct {
	limits
	world *inproc.World
	ranks []*rank
}

// A rank is one process of a run.
type rank struct {
	run   *run
	me    int
	w     *comm.Comm
	ended chan struct{} // closed when body and Finalize have ended

	frozen chan struct{} // closed when the rank stops in the middle of a call
}

// living finds the rank that a communicator belongs to, for Kill. Each Run
// removes its ranks at the end.
var living sync.Map // *engine.Proc to *rank

func newRun(n int, l limits) *run {
	r := &run{limits: l, world: inproc.New(n)}
	for me := range n {
		r.ranks = append(r.ranks, &rank{run: r, me: me, ended: make(chan struct{}), frozen: make(chan struct{})})
	}
	return r
}

func (r *run) join(wrap wrapper, w world) {
	for _, k := range r.ranks {
		end := r.world.Port(k.me)
		if wrap != nil {
			end = wrap(k, end)
		}
		k.w = door.WorldOf(engine.New(end, w.engine(wrap != nil)), commhooks.Job{Log: w.log})
		living.Store(k.proc(), k)
	}
}

func (k *rank) proc() *engine.Proc { return door.Engine(k.w).Proc() }

// all runs every rank to its end.
func (r *run) all(ctx context.Context, t testing.TB, body func(ctx context.Context, w *comm.Comm)) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for _, k := range r.ranks {
		wg.Go(func() { k.live(ctx, t, body) })
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(r.limits.run):
		t.Errorf("some ranks have not ended in time\n%s", r.waits()) // before the end of ctx ends the waits
		cancel()
		r.releaseAll(done)
	}
	for _, k := range r.ranks {
		living.Delete(k.proc())
		k.proc().Close()
	}
}

// live runs one rank from its body to its end.
func (k *rank) live(ctx context.Context, t testing.TB, body func(ctx context.Context, w *comm.Comm)) {
	defer close(k.ended)
	returned := false
	defer func() {
		v := recover()
		if returned || k.proc().Fenced() && v == nil {
			return
		}
		if v != nil {
			t.Errorf("rank %d: panic: %v\n%s", k.me, v, debug.Stack())
		} else {
			t.Errorf("rank %d: its goroutine ended before body returned", k.me)
		}
		k.die()
	}()
	body(ctx, k.w)
	if err := k.w.Finalize(ctx); err != nil && !errors.Is(err, comm.ErrFenced) && !errors.Is(err, comm.ErrFinalized) {
		t.Errorf("rank %d: %v", k.me, err)
	}
	returned = true
}

// die makes the rank dead to itself, and then reports the death to the detector: the order of a
// real death.
func (k *rank) die() {
	k.proc().Kill()
	k.run.world.Depart(k.me, true)
}

// waits lists the waiting calls of each rank with the ranks that they wait for, and the state of
// the rules.
func (r *run) waits() string {
	var b strings.Builder
	for _, k := range r.ranks {
		for _, w := range k.proc().Waits() {
			fmt.Fprintf(&b, "rank %d: %s\n", k.me, w)
		}
	}
	if b.Len() == 0 {
		b.WriteString("(no rank waits in a call)\n")
	}
	for _, k := range r.ranks {
		fmt.Fprintf(&b, "rules of rank %d:\n%s", k.me, k.proc().Describe())
	}
	return b.String()
}

// releaseAll ends the ranks that the end of the context did not end.
func (r *run) releaseAll(done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-time.After(r.grace):
	}
	for _, k := range r.ranks {
		go k.die() // one may be frozen until the others are gone
	}
	<-done
}
