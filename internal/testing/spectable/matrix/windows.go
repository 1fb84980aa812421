package matrix

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/rma"
	"github.com/goulfm/goulfm/ulfm"
)

// A Home is the location of the windows of a cell.
type Home struct {
	Name string
	Away bool // the caller does not share the target's memory
	Two  bool // there are two nodes: the caller and Revoker are on one, the target and Third on the other
	Own  bool // the memory is the program's
}

// WindowHomes returns the homes of the table. The environment places the ranks: ranks 0 and 1 of
// the world are on one node and 2 and 3 on another, or all on one.
func WindowHomes() []Home {
	return []Home{{Name: "memory"}, {Name: "nodes", Away: true, Two: true}, {Name: "messages", Away: true}, {Name: "own", Away: true, Own: true}}
}

// A WindowCell is one call on a window in one state, in one home.
type WindowCell struct {
	Call  WindowCall
	State spectable.WindowState
	Home  Home
}

// Name names the cell: "Put / target dead, known / nodes".
func (x WindowCell) Name() string { return x.Call.Name + " / " + x.State.Name + " / " + x.Home.Name }

// away reports whether the caller lacks access to the memory of the call. The memory of a pool
// belongs to the library in every home.
func (x WindowCell) away() bool { return x.Home.Away && !(x.Home.Own && x.Call.Pool) }

// WindowCells returns the cells of the table of windows.
func WindowCells() []WindowCell {
	var all []WindowCell
	for _, home := range WindowHomes() {
		for _, call := range WindowCalls() {
			for _, st := range spectable.WindowStates() {
				if spectable.WindowRelevant(call.Class, st) {
					all = append(all, WindowCell{call, st, home})
				}
			}
		}
	}
	return all
}

// Wrong returns the violations of the rules in the reports of one run.
func (x WindowCell) Wrong(reports []Report) []string {
	var wrong []string
	for _, r := range reports {
		wrong = append(wrong, r.Wrong...)
		if x.Call.Class.Uniform() && r.Outcome != reports[0].Outcome {
			wrong = append(wrong, fmt.Sprintf("not uniform: %v at rank %d, %v at rank %d", reports[0].Outcome, reports[0].Rank, r.Outcome, r.Rank))
		}
	}
	return wrong
}

// Run executes the part of one process in the cell, as Cell.Run does.
func (x WindowCell) Run(ctx context.Context, world *comm.Comm, env Env) (report Report, ok bool) {
	r := &windowRun{WindowCell: x, env: env}
	if err := r.make(ctx, world); err != nil {
		return Report{Rank: world.Rank(), Outcome: spectable.Other, Wrong: []string{"no window to begin with: " + err.Error()}}, true
	}
	r.together(ctx, "made", []int{0, 1, 2, 3})
	if err := r.prepare(ctx); err != nil {
		return Report{Rank: r.me, Outcome: spectable.Other, Wrong: []string{"not prepared: " + err.Error()}}, true
	}
	r.together(ctx, "prepared", []int{0, 1, 2, 3})
	r.happen(ctx)
	r.together(ctx, "ready", r.living())
	report, ok = r.act(ctx)
	if err := r.goesOn(ctx); err != nil {
		report.Rank, ok = r.me, true
		report.Wrong = append(report.Wrong, fmt.Sprintf("rank %d: afterwards: %v", r.me, err))
	}
	return report, ok
}

// A windowRun is a cell at one rank.
type windowRun struct {
	WindowCell
	env  Env
	c    *comm.Comm
	w    *rma.Win[int64]
	pool *rma.Pool // of a call that needs one
	ref  rma.Ref[int64]
	me   int
	told atomic.Int32 // errors reported to the communicator's handler
}

// make makes the window, of a communicator in which the caller and the target, ranks 0 and 1, are
// on different nodes if the world is on two.
func (r *windowRun) make(ctx context.Context, world *comm.Comm) (err error) {
	if r.c, err = world.Split(ctx, 0, world.Rank()%2*2+world.Rank()/2); err != nil {
		return err
	}
	r.me = r.c.Rank()
	if r.Home.Own {
		r.w, err = rma.Create(ctx, r.c, make([]int64, elements), rma.Notifications(2))
	} else {
		r.w, err = rma.Allocate[int64](ctx, r.c, elements, rma.Notifications(2))
	}
	if err != nil {
		return err
	}
	mine := r.w.Local()
	mine[dataElement], mine[nameElement] = initially, named+int64(r.me)
	if r.Call.Pool {
		if r.pool, err = rma.NewPool(ctx, r.c, 1024); err == nil {
			r.ref, err = rma.Grow[int64](ctx, r.pool, 1)
		}
	}
	return err
}

// together returns when all of these ranks have arrived here.
func (r *windowRun) together(ctx context.Context, where string, ranks []int) {
	r.env.Raise(fmt.Sprintf("%s %d", where, r.me))
	for _, q := range ranks {
		r.env.Await(ctx, fmt.Sprintf("%s %d", where, q))
	}
}

// living returns the ranks that do not die before the call.
func (r *windowRun) living() []int {
	if r.State.Died == spectable.During {
		return []int{0, 1, 2, 3}
	}
	return r.survivors()
}

func (r *windowRun) survivors() []int {
	return slices.DeleteFunc([]int{0, 1, 2, 3}, func(q int) bool { return slices.Contains(r.State.Dead, q) })
}

func (r *windowRun) victim() bool { return slices.Contains(r.State.Dead, r.me) }

// prepare makes the preparations for the call: the locks, the epoch or lock that the call ends, and
// the access for which the call waits.
func (r *windowRun) prepare(ctx context.Context) error {
	switch {
	case r.me == spectable.Third && r.State.Lock == spectable.SharedByThird:
		return r.w.At(spectable.Peer).Lock(ctx, rma.LockShared)
	case r.me == spectable.Third && r.State.Lock == spectable.HeldByThird:
		return r.w.At(spectable.Peer).Lock(ctx, rma.LockExclusive)
	case r.me == spectable.Peer && r.Call.Class == spectable.Completing:
		return r.w.Post(ctx, only(r.c, spectable.Caller))
	case r.me == spectable.Peer && r.State.Did:
		return r.serve(ctx)
	case r.me == spectable.Caller:
		return r.begin(ctx)
	}
	return nil
}

// begin opens the epoch or lock that the caller's call ends.
func (r *windowRun) begin(ctx context.Context) error {
	switch r.Call.Class {
	case spectable.Unlocking:
		return r.w.At(spectable.Peer).Lock(ctx, rma.LockExclusive)
	case spectable.UnlockingAll:
		return r.w.LockAll(ctx)
	case spectable.Completing:
		return r.w.Start(ctx, only(r.c, spectable.Peer))
	case spectable.WaitingPosted, spectable.TestingPosted:
		return r.w.Post(ctx, only(r.c, spectable.Peer))
	}
	return nil
}

// serve makes the access for which the call waits.
func (r *windowRun) serve(ctx context.Context) error {
	to := r.w.At(spectable.Caller)
	switch r.Call.Class {
	case spectable.WaitingFor, spectable.WaitingAny:
		return errors.Join(to.Store(ctx, flagElement, flagged), to.Notify(ctx, 0), to.Flush(ctx))
	case spectable.Starting:
		return errors.Join(r.w.Post(ctx, only(r.c, spectable.Caller)), to.Flush(ctx))
	case spectable.WaitingPosted:
		return errors.Join(r.w.Start(ctx, only(r.c, spectable.Caller)), r.w.Complete(ctx), to.Flush(ctx))
	}
	return nil
}

// happen brings the window into the state: deaths, acknowledgements, revocation, in that order, or
// its end.
func (r *windowRun) happen(ctx context.Context) {
	if r.State.Died == spectable.Before || r.State.Died == spectable.Unaware {
		bury(ctx, r.env, r.me, r.State.State, r.w.Comm())
	}
	switch r.State.Acked {
	case spectable.Part:
		_, _ = r.w.Comm().AckFailed(1)
	case spectable.All:
		_, _ = r.w.Comm().AckFailed(r.c.Size())
	}
	if r.State.Revoked == spectable.Before || r.State.Revoked == spectable.Unaware {
		revoke(ctx, r.env, r.me, r.State.Revoked, r.c)
	}
	if r.State.Freed && (r.me == spectable.Caller || r.Call.Class.Collective()) {
		_ = r.w.Free() // if Free fails, the call shows this
		if r.pool != nil {
			_ = r.pool.Free()
		}
	}
}

// act makes the call, or causes the events while the caller is in the call.
func (r *windowRun) act(ctx context.Context) (Report, bool) {
	if r.me != spectable.Caller {
		r.meanwhile(ctx)
	}
	if r.me != spectable.Caller && !r.Call.Class.Collective() {
		return Report{}, false
	}
	r.c.SetErrorHandler(func(_ *comm.Comm, err error) error {
		r.told.Add(1)
		return err
	})
	s := &windowSite{c: r.c, w: r.w, t: r.w.At(spectable.Peer), pool: r.pool, ref: r.ref}
	if r.me == spectable.Caller {
		r.env.Raise("calling")
	}
	err := r.Call.Do(ctx, s)
	report := r.judge(err)
	r.c.SetErrorHandler(comm.ErrorsReturn)
	if r.me == spectable.Caller && len(report.Wrong) == 0 {
		if why := r.effect(ctx, report.Outcome); why != nil {
			report.Wrong = append(report.Wrong, fmt.Sprintf("its effect: %v", why))
		}
	}
	return report, true
}

// whileCalled is the number of times that others yield before they act during the call. Any moment
// is right, and a call that waits does so until they act.
const whileCalled = 100

// meanwhile is the part of the other ranks during the call.
func (r *windowRun) meanwhile(ctx context.Context) {
	r.env.Await(ctx, "calling")
	for range whileCalled {
		runtime.Gosched()
	}
	if r.State.Died == spectable.During && r.victim() {
		r.env.Die(fmt.Sprintf("dead %d", r.me))
	}
	if r.State.Revoked == spectable.During && r.me == spectable.Revoker {
		_ = r.c.Revoke()
	}
	if r.State.Returned() && r.me == spectable.Third {
		_ = r.w.At(spectable.Peer).Unlock(ctx) // if Unlock fails, the caller waits for ever
	}
	server := spectable.Peer
	if slices.Contains(r.State.Dead, server) {
		server = spectable.Revoker
	}
	if r.me == server && spectable.WindowServes(r.Call.Class, r.State) {
		_ = r.serve(ctx) // as before
	}
}

// judge compares the result of the call with the rules.
func (r *windowRun) judge(err error) Report {
	want := spectable.ExpectWindow(r.Call.Class, r.State, r.away())
	report := Report{Rank: r.me, Outcome: windowOutcome(err)}
	complain := func(format string, args ...any) {
		report.Wrong = append(report.Wrong, fmt.Sprintf("rank %d: ", r.me)+fmt.Sprintf(format, args...))
	}
	if !slices.Contains(want.Outcomes, report.Outcome) {
		complain("returned %v (%v), expected %v", report.Outcome, err, want.Outcomes)
		return report
	}
	if errs := int32(min(1, int(report.Outcome))); r.told.Load() != errs {
		complain("the handler was called %d times, expected %d", r.told.Load(), errs)
	}
	if report.Outcome == spectable.OK {
		return report
	}
	var e *ulfm.Error
	if !errors.As(err, &e) {
		complain("%T is no *ulfm.Error", err)
		return report
	}
	if e.Op != r.Call.Op {
		complain("the error's operation is %q, expected %q", e.Op, r.Call.Op)
	}
	if !strings.HasSuffix(e.Comm, r.c.Name()) {
		complain("the error's window is %q, expected one of %q", e.Comm, r.c.Name())
	}
	if report.Outcome == spectable.Failed || report.Outcome == spectable.Unsupported {
		got := slices.Compact(slices.Sorted(slices.Values(e.Ranks)))
		if why := ranks(got, want); why != "" {
			complain("%s", why)
		}
	}
	return report
}

func windowOutcome(err error) spectable.Outcome {
	switch o := outcome(err); {
	case o != spectable.Other || errors.Is(err, errWrong):
		return o
	case errors.Is(err, comm.ErrFreed):
		return spectable.Freed
	case errors.Is(err, rma.ErrNotHeld):
		return spectable.NotHeld
	case errors.Is(err, comm.ErrUnsupported):
		return spectable.Unsupported
	}
	return spectable.Other
}

// effect checks the effect of a call: its documented effect after success, and none on the memory
// of the dead (W3).
func (r *windowRun) effect(ctx context.Context, o spectable.Outcome) error {
	got := []int64{0}
	switch {
	case r.State.Freed || r.Call.Leaves == 0:
		return nil
	case o == spectable.OK && r.State.Revoked == spectable.Never && !slices.Contains(r.State.Dead, spectable.Peer):
		if err := r.w.At(spectable.Peer).Get(ctx, dataElement, got); err != nil || got[0] != r.Call.Leaves {
			return fmt.Errorf("the element is %d, expected %d: %w", got[0], r.Call.Leaves, errors.Join(err, errWrong))
		}
	case o == spectable.Failed && r.State.Died == spectable.Before && !r.Home.Away:
		if err := r.w.Salvage(spectable.Peer, dataElement, got); err != nil || got[0] != initially {
			return fmt.Errorf("the element of the dead is %d, expected %d: %w", got[0], initially, errors.Join(err, errWrong))
		}
	}
	return nil
}

// goesOn checks the conditions after every cell: the live ranks shrink, have their memory on the
// new communicator, and the new window works, its lock included (W20, W23).
func (r *windowRun) goesOn(ctx context.Context) error {
	left, err := r.c.Shrink(ctx)
	if err != nil {
		return err
	}
	v, err := r.again(ctx, left)
	if err != nil {
		return err
	}
	next, mine := v.At((left.Rank()+1)%left.Size()), v.Local()
	var before int64
	if len(mine) > goesElement {
		before = mine[nameElement]
	}
	err = errors.Join(next.Lock(ctx, rma.LockExclusive), next.Put(ctx, goesElement, []int64{flagged}), next.Unlock(ctx), v.Fence(ctx))
	if err == nil && (len(mine) != elements || mine[goesElement] != flagged || mine[nameElement] != before) {
		err = fmt.Errorf("%w: the window that was made again has %v", errWrong, mine)
	}
	err = errors.Join(err, v.Free())
	if r.w.Local() != nil { // not freed
		err = errors.Join(err, r.w.Free())
	}
	if r.pool != nil && !(r.State.Freed && r.me == spectable.Caller) {
		err = errors.Join(err, r.pool.Free())
	}
	return err
}

// again makes a window on the shrunk communicator. The window has the memory of the old one, and
// heirs take over that of the dead. If the old window was freed, the new one has new memory.
func (r *windowRun) again(ctx context.Context, left *comm.Comm) (*rma.Win[int64], error) {
	if r.State.Freed || r.Call.Op == "free" {
		return rma.Allocate[int64](ctx, left, elements)
	}
	heirs, err := rma.Heirs(ctx, left, r.w, r.State.Dead)
	if err != nil {
		return nil, err
	}
	var options []rma.Option
	name := named + int64(r.me)
	for i, dead := range r.State.Dead {
		if inherited := !r.Home.Away || r.Home.Two && len(r.State.Dead) == 1; (heirs[i] != comm.Undefined) != inherited {
			return nil, fmt.Errorf("%w: the heir of rank %d is %d", errWrong, dead, heirs[i])
		}
		if heirs[i] == left.Rank() {
			options, name = []rma.Option{rma.Inherit(dead)}, named+int64(dead)
		}
	}
	v, err := rma.Rebuild(ctx, left, r.w, options...)
	if err == nil && v.Local()[nameElement] != name {
		err = fmt.Errorf("%w: the window that was made again has %v, expected a name of %d", errWrong, v.Local(), name)
	}
	return v, err
}
