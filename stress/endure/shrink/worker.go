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
	living  []int // members that no plan so far kills; the others stay until they die
	me      int   // rank in the world
	seed    uint64
	turns   int
	agreed  []int // dead of the last turn, by agreement
	out     io.Writer
	die     func()
	dying   bool          // the instant of the death is set
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

// work does barriers until one fails, and dies during that if the plan requires. No rank dies
// before all have done the reduction.
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

// opening is a reduction on a new communicator. The reduction is right, at all members, if all of
// them survive the turn; it cannot succeed if some stay only to die.
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

// dieIn ends this rank at an instant, at any point of its program.
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

// repair continues without the dead. A planned victim that comes through waits here for its death.
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
	if old == w.world { // the world belongs to Main
		return nil
	}
	return old.Free()
}

// shrink makes the communicator of the survivors; with ask they agree on the dead before.
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

// check compares a shrunk communicator with the plan.
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

// checkShape checks the data of the communicator about itself. If some members stay only to die,
// another one may have met their deaths already and revoked the communicator.
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
