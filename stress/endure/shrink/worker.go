package shrink

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/ulfm"
)

// A worker is one rank's part of a round.
type worker struct {
	world   *comm.Comm
	c       *comm.Comm
	members []int // of c, as ranks of the world
	living  []int // those of them that no plan so far lets die; the others hang on until they do
	me      int   // rank in the world
	seed    uint64
	turns   int
	agreed  []int // dead of the last turn, as an agreement had it
	out     io.Writer
	die     func()
	dying   bool          // the instant is set
	dead    chan struct{} // closed when this rank's own instant has come
}

func newWorker(w *comm.Comm, seed uint64, out io.Writer, die func()) *worker {
	all := upTo(w.Size())
	return &worker{world: w, c: w, members: all, living: all, me: w.Rank(), seed: seed, out: out, die: die, dead: make(chan struct{})}
}

func (w *worker) wrong(format string, args ...any) error {
	return trial.Broken("turn %d, members %v: %s", w.turns, w.members, fmt.Sprintf(format, args...))
}

// run is a round.
func (w *worker) run(ctx context.Context) error {
	if err := w.down(ctx); err != nil {
		return err
	}
	if err := w.opening(ctx); err != nil {
		return err
	}
	fmt.Fprintf(w.out, "shrink: rank %d is left, turns=%d\n", w.me, w.turns)
	return nil
}

// down takes turns until this rank is alone.
func (w *worker) down(ctx context.Context) error {
	for w.c.Size() > 1 {
		if err := w.turn(ctx, draw(w.seed, w.turns, w.living)); err != nil {
			return err
		}
		w.turns++
	}
	return nil
}

func (w *worker) turn(ctx context.Context, p plan) error {
	mine := p.of(w.me)
	if err := w.work(ctx, mine); !ulfm.Recoverable(err) {
		return err
	}
	return w.repair(ctx, p, mine)
}

// work does barriers until one fails, and dies meanwhile if that is the plan. Nobody
// dies before all have done the reduction.
func (w *worker) work(ctx context.Context, mine *death) error {
	if err := w.opening(ctx); err != nil {
		return err
	}
	for b := 0; ; b++ {
		if mine != nil && mine.when == atBarrier && mine.barrier == b {
			return w.dieNow()
		}
		if err := collectives.Barrier(ctx, w.c); err != nil {
			return err
		}
		if b == 0 && mine != nil && mine.when == amid {
			w.dieIn(mine.after)
		}
	}
}

// opening is a reduction on a new communicator. It is right, and at all members, if all
// of them live on; it cannot succeed if some only hang on to die.
func (w *worker) opening(ctx context.Context) error {
	given := func(r int) uint64 { return w.seed ^ uint64(w.turns)<<32 + uint64(r)*0x9e3779b97f4a7c15 }
	v := []uint64{given(w.me)}
	err := collectives.Allreduce(ctx, w.c, v, v, collectives.Sum)
	whole := len(w.living) == len(w.members)
	for _, r := range w.members {
		v[0] -= given(r)
	}
	switch {
	case err == nil && !whole:
		return w.wrong("a reduction succeeded, and only %v took part", w.living)
	case err == nil && v[0] != 0:
		return w.wrong("a reduction gave a wrong result")
	case err != nil && whole && ulfm.Recoverable(err):
		return w.wrong("nobody has died here: %v", err)
	}
	return err
}

func (w *worker) dieNow() error {
	w.die()
	return comm.ErrFenced
}

// dieIn ends this rank at an instant, wherever it is then.
func (w *worker) dieIn(after time.Duration) {
	if w.dying {
		return
	}
	w.dying = true
	time.AfterFunc(after, func() {
		defer close(w.dead)
		w.die()
	})
}

// repair goes on without the dead. Who is to die and comes through waits for it here.
func (w *worker) repair(ctx context.Context, p plan, mine *death) error {
	old := w.c
	if mine != nil && (mine.when == atBarrier || mine.when == beforeRevoke) {
		return w.dieNow()
	}
	if err := old.Revoke(); err != nil {
		return err
	}
	switch {
	case mine != nil && mine.when == afterRevoke:
		return w.dieNow()
	case mine != nil: // also one amid barriers, if the very first of them failed
		w.dieIn(mine.after)
	}
	next, err := w.shrink(ctx, p.ask)
	if err != nil {
		return err
	}
	if mine != nil {
		<-w.dead
		return comm.ErrFenced
	}
	if err := w.check(next, p); err != nil {
		return err
	}
	w.c, w.members, w.living = next, next.Group().Processes(), p.without(w.living)
	if old == w.world { // which is Main's
		return nil
	}
	return old.Free()
}

// shrink makes the communicator of the survivors; if asked for, they agree on the dead
// before.
func (w *worker) shrink(ctx context.Context, ask bool) (*comm.Comm, error) {
	w.agreed = nil
	if ask {
		dead, err := w.c.AgreeFailed(ctx)
		if err != nil {
			return nil, err
		}
		if w.agreed = dead.Processes(); len(w.agreed) == 0 {
			return nil, w.wrong("nobody is agreed to be dead, and an operation failed")
		}
	}
	return w.c.Shrink(ctx)
}

// check holds a shrunk communicator against the plan.
func (w *worker) check(next *comm.Comm, p plan) error {
	got := next.Group().Processes()
	for _, r := range w.members {
		in, d := slices.Contains(got, r), p.of(r)
		lives := d == nil && slices.Contains(w.living, r)
		switch {
		case lives && !in:
			return w.wrong("shrink gave %v: rank %d lives", got, r)
		case !lives && in && (d == nil || d.when.silent()):
			return w.wrong("shrink gave %v: rank %d has not called it", got, r)
		case in && slices.Contains(w.agreed, r):
			return w.wrong("shrink gave %v: %v were agreed to be dead", got, w.agreed)
		case lives && slices.Contains(w.agreed, r):
			return w.wrong("%v are agreed to be dead, and rank %d lives", w.agreed, r)
		}
	}
	return w.checkShape(next, got, len(p.without(w.living)))
}

// checkShape looks at what the communicator says of itself. Where some members only
// hang on to die, another one may have met their deaths already and revoked it.
func (w *worker) checkShape(next *comm.Comm, got []int, living int) error {
	subset := !slices.ContainsFunc(got, func(r int) bool { return !slices.Contains(w.members, r) })
	switch {
	case !subset, !slices.IsSorted(got), next.Size() != len(got), got[next.Rank()] != w.me:
		return w.wrong("shrink gave %v, rank %d of %d", got, next.Rank(), next.Size())
	case len(got) == len(w.members):
		return w.wrong("shrink left nobody out")
	case next.Epoch() <= w.c.Epoch(), !w.c.IsRevoked(), next.IsRevoked() && len(got) == living:
		return w.wrong("epoch %d after %d, old revoked: %v, new revoked: %v", next.Epoch(), w.c.Epoch(), w.c.IsRevoked(), next.IsRevoked())
	}
	return nil
}
