package recovery

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// A World gives a body, during one attempt, its ranks and its protected data. Its single
// responsibility is the body's side of an attempt: it passes calls to the rules of repair, and ends
// the attempt at the first error. Only the body's own goroutine calls its methods, except Comm,
// Rank, Size, Block, BlockOf and Go.
type World struct {
	r    *runner
	run  repair.Run
	base *comm.Comm // of the library
	c    *comm.Comm // of the program

	opened             error  // the error of making c; then there is no attempt
	revokeAll, freeAll func() // c and all communicators made from c
	ctx                context.Context
	cancel             context.CancelCauseFunc
	group              sync.WaitGroup
	mu                 sync.Mutex
	gone               error // the error of a goroutine

	members    []Member          // the step comes first; nil: Protect was not called yet
	nodes      []int             // of the ranks
	homes      []int             // of the ranks
	keepers    redundancy.Mirror // of savings
	service    context.Context   // of the receipt of savings; outlives ctx
	endService context.CancelFunc
	serving    sync.WaitGroup
	reports    []repair.Report // of all ranks, in Protect
	plan       repair.Plan
	loaded     part // from files, until the members have the data
	writers    int  // ranks that wrote those files
	layout     redundancy.Layout
	step       int
	err        error // of Steps
	bad        error // a member could not be copied
	committed  Version

	since  time.Time // the last commit, or Protect
	points int       // since then
}

// A Version identifies data that were committed together. The zero Version stands for the initial
// values.
type Version struct{ Epoch, Number uint64 }

// IsZero reports whether v is the zero Version: no data were committed yet.
func (v Version) IsZero() bool { return v == Version{} }

// Role is the role of a process in an attempt. A Role says nothing about data: a process with
// RoleSurvivor or RoleRecovered may find that nothing was committed, and a process with RoleInitial
// may get a version from files. Use Version.IsZero of the result of Protect to find out whether
// there are data.
type Role int

// The roles, in the order of those of package repair.
const (
	RoleInitial   Role = iota // started with the job; no Protect of this process was agreed yet
	RoleSurvivor              // a Protect of this process was agreed in an earlier attempt
	RoleRecovered             // has replaced another process; no Protect of this process was agreed yet
)

// Comm returns the communicator of the attempt. The communicator, and all objects made from it, end
// with the attempt.
func (w *World) Comm() *comm.Comm { return w.c }

// Rank returns this process's rank, 0 to Size()-1.
func (w *World) Rank() int { return w.run.Rank }

// Size returns the number of ranks.
func (w *World) Size() int { return w.run.Size }

// Block returns the block of total items that this rank has, lo to hi-1, as [comm.Block] divides
// them.
func (w *World) Block(total int) (lo, hi int) { return w.BlockOf(total, w.Rank()) }

// BlockOf returns the block of total items that the given rank has, as Block does for this rank.
func (w *World) BlockOf(total, rank int) (lo, hi int) { return comm.Block(total, w.Size(), rank) }

// Attempt returns the number of this call of the body, from 1; the same at all ranks.
func (w *World) Attempt() int { return w.run.Attempt }

// Role returns the role of this process in this attempt.
func (w *World) Role() Role { return Role(w.run.Role) }

// Lost returns the ranks that have a new process since a Protect was last agreed: the ranks whose
// Role is RoleRecovered. The list is the same at all ranks. A death during a repair removes no rank
// from the list.
func (w *World) Lost() []int { return slices.Clone(w.run.Lost) }

// Protect registers the members, the state of the program, and gives them the values of the last
// version. If the result is the zero Version there is no such version: the members keep their
// values. Collective, at most once an attempt, before Commit and Steps. The names, types and
// options are the same in the same order at all ranks; otherwise the error is ErrMember.
func (w *World) Protect(ctx context.Context, ms ...Member) (Version, error) {
	if w.members != nil {
		return Version{}, fmt.Errorf("%w: Protect was called before in this attempt", ErrMember)
	}
	err := errors.Join(ctx.Err(), checkMembers(ms))
	if w.r.cfg.Shortage == ShortageShrink {
		err = errors.Join(err, checkShrinkable(ms))
	}
	if err != nil {
		return Version{}, err
	}
	w.members = append([]Member{Value(stepName, &w.step, Same())}, ms...)
	w.r.handle(repair.Protect{})
	if w.bad != nil {
		return Version{}, w.bad
	}
	err = w.answered()
	w.reports = nil
	if err != nil {
		return Version{}, err
	}
	w.since = time.Now()
	w.r.pacer.Resumed()
	if err := w.takeRestored(); err != nil {
		return Version{}, err
	}
	if w.hasOwn() {
		w.keepForOthers()
		if err := w.takeOwn(); err != nil {
			return Version{}, err
		}
	}
	w.narrate()
	return w.committed, nil
}

// stepName is the name of the member that Steps needs; programs cannot use the empty name.
const stepName = ""

// takeRestored gives the members the restored data.
func (w *World) takeRestored() error {
	stock := &w.r.stock
	fits := stock.Fits(w.run, w.plan.Label)
	stock.Take()
	if err := w.takeFrom(func(m Member) bool { return fits && (m.option.Static || m.option.Forward) }); err != nil {
		return err
	}
	stock.Took(w.run, w.plan.Label, fits)
	return nil
}

// takeFrom gives the members the version of the plan, except to members that stand: they hold the
// data of this rank.
func (w *World) takeFrom(stands func(m Member) bool) error {
	switch w.plan.Source {
	case repair.FromMemory:
	case repair.FromFiles:
		loaded := w.loaded
		w.loaded, w.r.last = nil, repair.Label{} // no bytes are shared with versions in memory
		return w.takePart(loaded, rankset.Set{}, stands)
	default:
		return nil
	}
	v := w.r.mem.find(w.plan.Label)
	if w.plan.Size != w.run.Size {
		w.r.last = repair.Label{} // the parts here are of other ranks: no bytes are shared
		return w.dealOut(v)
	}
	if err := errors.Join(w.takePart(v.parts[w.run.Rank], v.kept, stands), w.takeKept(v, stands)); err != nil {
		return err
	}
	w.r.last = w.plan.Label
	return nil
}

// takePart gives the members the bytes of a part, except to members that stand, and to members in
// kept, whose bytes only the home has.
func (w *World) takePart(p part, kept rankset.Set, stands func(m Member) bool) error {
	for i, b := range p {
		m := w.members[i]
		if m.option.Own || stands(m) || kept.Has(i) {
			continue
		}
		if err := m.restore(b); err != nil {
			return err
		}
	}
	return nil
}

// Steps returns the remaining steps, from the restored one (at first 0) to n-1, and calls Commit
// after each. Steps stops early when the attempt is over; Err then returns the reason. Before step
// i Steps marks the point "step" with i+1, so marks count from 1 (comm.Comm.Mark).
func (w *World) Steps(ctx context.Context, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for w.err == nil && w.step < n {
			w.c.Mark("step", w.step+1)
			if !yield(w.step) {
				return
			}
			w.step++
			w.err = w.Commit(ctx)
		}
	}
}

// Err returns the error that has stopped Steps early, or nil. A body must return this error.
func (w *World) Err() error { return w.err }

// Commit makes a version of the present values of the members, if a commit is due: once Commit has
// returned nil at any rank no older version is restored. If none is due, Commit only counts, at
// almost no cost. The program calls Commit where the members of all ranks are consistent and no
// message is in transit. Collective. With an error the attempt is over: return the error.
func (w *World) Commit(ctx context.Context) error { return w.commit(ctx, false) }

// CommitNow is a Commit that is always due. All ranks call CommitNow at the same point.
func (w *World) CommitNow(ctx context.Context) error { return w.commit(ctx, true) }

func (w *World) commit(ctx context.Context, now bool) error {
	switch {
	case w.members == nil:
		return fmt.Errorf("%w: Commit before Protect", ErrMember)
	case w.ctx.Err() != nil:
		return context.Cause(w.ctx)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	w.points++
	if !now && w.r.skip() {
		return nil
	}
	if err := w.r.files.failed(); err != nil {
		return err
	}
	begun := time.Now()
	w.r.handle(repair.Commit{Now: now, Stop: w.r.ctx.Err() != nil, Want: w.requested()})
	err := w.answered()
	if w.r.failure == nil {
		w.r.obey(*w.r.reply)
	}
	w.r.pacer.Committed(mono.Duration(begun.Sub(w.since)), w.points, mono.Duration(time.Since(begun)))
	w.since, w.points = time.Now(), 0
	switch lost := w.r.files.failed(); {
	case w.bad != nil:
		return w.bad
	case lost != nil && errors.Is(err, ErrStopped):
		return lost // the last version, which had to be in files
	}
	return err
}

// requested is this rank's requested interval, in points; 0: none. A replacement has measured no
// commit before its first one, and the survivors have.
func (w *World) requested() int {
	if w.r.joined && !w.r.pacer.Measured() {
		return 0
	}
	return w.r.pacer.Points(w.r.now())
}

// skip counts a point at which no commit is due.
func (r *runner) skip() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules.Skip()
}

// answered turns the rules' answer to a call into its error.
func (w *World) answered() error {
	if w.r.failure != nil {
		return w.r.failure
	}
	a := w.r.reply
	w.committed = Version(a.Label)
	switch a.Verdict {
	case repair.OverAgain:
		return errOver
	case repair.OverStop:
		return ErrStopped
	case repair.BadReplica:
		return ErrReplica
	case repair.BadMembers:
		return fmt.Errorf("%w: ranks protect different members", ErrMember)
	case repair.BadLost:
		return w.lostError()
	case repair.BadPlace:
		return ErrPlace
	case repair.BadFiles:
		return w.r.filesError(w.r.files.open)
	}
	return nil
}

// Go starts a goroutine of the attempt: a repair, and the end of the attempt, wait for the
// goroutine. Its context ends when the body returns, for any reason, so that a repair need not wait
// long. A body that needs the result of a goroutine must therefore wait for the goroutine before
// returning: a pending call of the goroutine fails with the end of its context. An error of f ends
// the attempt, like an error that the body returns.
func (w *World) Go(f func(ctx context.Context) error) {
	w.group.Add(1)
	go func() {
		defer w.group.Done()
		if err := f(w.ctx); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.gone == nil || w.resultOf(err) > w.resultOf(w.gone) {
				w.gone = err
			}
			w.cancel(err)
		}
	}()
}

func (w *World) groupErr() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

// Rollback returns an error with which a body requests that all ranks return to the last version,
// though no rank has died.
func Rollback(reason string) error { return fmt.Errorf("%w: %s", errRollback, reason) }
