package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/logline"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/ckpt/commitinterval"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/commhooks"
	"github.com/goulfm/goulfm/ulfm"
)

// door leads into package comm.
var door = commhooks.Through[comm.Comm, comm.Intercomm, comm.Request, comm.Config]()

// Main is the main function of a program that outlives its processes: comm.Main with Run as its
// body. Use it under goulfm run; elsewhere the dead cannot be replaced (Config.Shortage).
func Main(cfg Config, body Body) {
	comm.MainWith(cfg.Comm, func(ctx context.Context, w *comm.Comm) error { return Run(ctx, w, cfg, body) })
}

// Run calls body until all ranks have finished, on the members of w, a world that has not been used
// before. In a process that has replaced another, Run continues on the communicator that the
// process has joined. Collective. Its error is the same at all living ranks; the error of a rank
// whose body has failed also wraps the error of that body. The first repair frees w: from then on
// only Finalize may use w.
func Run(ctx context.Context, w *comm.Comm, cfg Config, body Body) error {
	r, err := newRunner(ctx, w, cfg, body)
	if err != nil {
		return err
	}
	return r.run()
}

// A runner is one process in the world of its program: it carries out the actions of the rules.
type runner struct {
	ctx   context.Context // of Run: its end requests a stop
	cfg   Config
	body  Body
	world *comm.Comm // Finalize ends this communicator; the runner never frees it

	mu    sync.Mutex // of rules: a revocation arrives in another goroutine than the body's
	rules *repair.World

	c     *comm.Comm   // the newest communicator, and base of the next attempt
	old   []*comm.Comm // to free when the next attempt begins
	mem   memory
	own   savings
	home  *home        // in the memory of the node; nil: there is none
	alone bool         // no copies are sent: home is sufficient, at all ranks
	files *files       // nil: there are none
	last  repair.Label // committed or restored, and in memory; static members are shared with this version

	w       *World         // the attempt
	reply   *repair.Return // to the present call
	next    *repair.Run    // the next attempt
	outcome *repair.Outcome
	failure error // a call of the library has failed for good
	scarce  error // the reason why the last Replace had no processes; nil: there were some
	fatal   error // of this rank's body
	peer    error // the class of the error that ended the program at the lowest rank

	joined bool         // this process has replaced another
	stock  repair.Stock // of the static and forward members
	pacer  *commitinterval.Pacer
	clock  stopwatch
	begun  time.Time
}

func newRunner(ctx context.Context, w *comm.Comm, cfg Config, body Body) (*runner, error) {
	if cfg.Copies <= 0 {
		cfg.Copies = 1
	}
	if cfg.Verify && cfg.Every == 0 {
		cfg.Every = 1 // the same points are committed again
	}
	r := &runner{ctx: ctx, cfg: cfg, body: body, world: w, c: w, begun: time.Now(), pacer: commitinterval.New(mono.Duration(cfg.MTBF), 0), files: newFiles(cfg.Files)}
	if joined := w.Joined(); joined != nil {
		rules, err := repair.Adopt(r.settings(), joined.Size(), joined.Rank(), w.Handover())
		if err != nil {
			return nil, err
		}
		r.c, r.rules, r.joined = joined, rules, true
		r.c.Mark("repair.joined", 1)
		return r, nil
	}
	w.SetUniform(true)
	r.rules = repair.New(r.settings(), w.Size(), w.Rank())
	return r, nil
}

// layout returns the placement of copies for ranks on these nodes: the nodes of the present world,
// or of the world that made a version. Such a version had copies or parity if its world was on
// several nodes, wherever the ranks are now.
func (r *runner) layout(nodes []int) redundancy.Layout {
	if r.alone && slices.Min(nodes) == slices.Max(nodes) {
		return redundancy.Alone(nodes)
	}
	if e := r.cfg.Erasure; e.Parity > 0 {
		return redundancy.Erasure(nodes, e.Data, e.Parity)
	}
	return redundancy.Partners(nodes, r.cfg.Copies)
}

// settings are those of the rules.
func (r *runner) settings() repair.Config {
	return repair.Config{
		Layout:   r.layout,
		Shortage: repair.Shortage(r.cfg.Shortage), Wait: mono.Duration(r.cfg.Wait), Tries: r.cfg.Tries, Every: r.cfg.Every, Files: r.files != nil, Must: r.cfg.Files.Must, Verify: r.cfg.Verify,
	}
}

func (r *runner) run() error {
	defer r.endFiles() // deferred, since a test may end the goroutine in its body
	r.handle(repair.Begin{})
	for r.outcome == nil && r.failure == nil {
		r.attempt(*r.next)
	}
	r.old = unique(append(r.old, r.c), nil)
	r.freeOld()
	switch {
	case r.failure != nil:
		return r.failure
	case r.fatal != nil && textOf(r.fatal) != "" && r.outcome.End == repair.Peer:
		return ofBody{r.fatal}
	}
	err := r.explain(errorOf(*r.outcome))
	if r.peer != nil && !errors.Is(r.peer, ErrPeer) {
		return sameAs{err, r.peer}
	}
	return err
}

// sameAs is the error of another rank, with its class among the errors of this package.
type sameAs struct {
	error
	class error
}

// Unwrap returns the error and its class.
func (e sameAs) Unwrap() []error { return []error{e.error, e.class} }

// ofBody is an error of the body of this rank, and ErrPeer, whose text the error does not repeat.
type ofBody struct{ error }

// Unwrap returns ErrPeer and the error.
func (e ofBody) Unwrap() []error { return []error{ErrPeer, e.error} }

// explain adds to ErrTooFew the reason why no processes were available.
func (r *runner) explain(err error) error {
	if errors.Is(err, ErrTooFew) && r.scarce != nil {
		return fmt.Errorf("%w: %w", err, r.scarce)
	}
	return err
}

// errorOf returns the error of Run.
func errorOf(o repair.Outcome) error {
	switch o.End {
	case repair.Peer:
		if o.Rank < 0 {
			return fmt.Errorf("%w, and has died since", ErrPeer)
		}
		return ofBody{fmt.Errorf("rank %d: %s", o.Rank, o.Text)}
	case repair.Stopped:
		return ErrStopped
	case repair.TooFew:
		return ErrTooFew
	case repair.NoProgress:
		return ErrNoProgress
	case repair.Misplaced:
		return ErrPlace
	}
	return nil
}

// handle passes an event to the rules and performs their actions, until there are none. Once a call
// has failed for good, such as the call of a fenced process, the rules wait for an answer that
// never comes. Later events of the body have no effect.
func (r *runner) handle(ev repair.Event) {
	if r.failure != nil {
		return
	}
	todo := r.step(ev)
	for len(todo) > 0 && r.failure == nil {
		a := todo[0]
		todo = todo[1:]
		if answer := r.perform(a); answer != nil {
			todo = append(todo, r.step(answer)...)
		}
	}
}

func (r *runner) step(ev repair.Event) []repair.Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]repair.Action(nil), r.rules.Step(ev)...)
}

// perform carries out one action, and returns the resulting event if the rules wait for one.
func (r *runner) perform(a repair.Action) repair.Event {
	if pausepoint.Enabled {
		pausepoint.At("recovery.performs")
	}
	switch a := a.(type) {
	case repair.Run:
		r.next = &a
	case repair.Gather:
		return repair.Gathered{Reports: r.gather(a)}
	case repair.Restore:
		return r.restored(a.Plan)
	case repair.Copy:
		return r.copyPart(a)
	case repair.Agree:
		return r.agree(a.Word)
	case repair.Return:
		r.reply = &a
	case repair.Keep:
		r.last = a.Oldest
		r.mem.drop(func(l repair.Label) bool { return l.Less(a.Oldest) })
		r.home.agreed(a.Oldest)
	case repair.Settle:
		r.settle(a.Label)
	case repair.Drop:
		r.mem.drop(func(l repair.Label) bool { return l == a.Label })
		r.home.drop(a.Label)
		r.files.spoiled(a.Label)
	case repair.Cancel:
		r.clock.start()
		r.w.end()
	case repair.Revoke:
		r.w.revoke()
	case repair.Shrink:
		return r.shrink()
	case repair.Replace:
		return r.replace(a)
	case repair.Tell:
		return r.tell(a.Text)
	case repair.End:
		r.outcome = &a.Outcome
	}
	return nil
}

// now is the time since this process began to observe failures. Earlier failures, before this
// process replaced another, do not count as observed.
func (r *runner) now() mono.Time { return mono.Time(time.Since(r.begun)) }

// uniform is the context of calls that have one outcome at all ranks: no rank gives up the wait.
var uniform = context.Background()

// fail ends Run after the failure of a call that should not fail.
func (r *runner) fail(err error) repair.Event {
	r.failure = fmt.Errorf("recovery: %w", err)
	return nil
}

func (r *runner) shrink() repair.Event {
	r.c.Mark("repair.shrink", r.clock.count("shrink"))
	defer r.clock.lap(&r.clock.shrink)()
	s, err := r.c.Shrink(uniform)
	for isOfTheDead(err, r.c.FailedRanks()) {
		s, err = r.c.Shrink(uniform)
	}
	if err != nil {
		return r.fail(err)
	}
	left, orphaned := survivors(r.c, s)
	if orphaned {
		return r.fail(errors.New("the other ranks go on without this process"))
	}
	r.pacer.Failed(r.c.Size() - s.Size())
	r.old, r.c = append(r.old, r.c), s
	return repair.Shrunk{Left: left}
}

// isOfTheDead reports whether a call has failed because a dead process had made another call in its
// place. A process that dies may have come to another outcome of the call before:
//
//	0 and 2  have committed, and go on; 2 is in the next boundary when both die
//	1        hears of that, and for it the same boundary ends the attempt: it calls Shrink
//
// The result is ErrMismatch at all survivors, and their next call involves survivors alone.
func isOfTheDead(err error, dead []int) bool {
	e, named := errors.AsType[*ulfm.Error](err)
	return named && errors.Is(err, comm.ErrMismatch) && slices.ContainsFunc(e.Ranks, func(rank int) bool { return slices.Contains(dead, rank) })
}

func (r *runner) replace(a repair.Replace) repair.Event {
	r.c.Mark("repair.replace", r.clock.count("replace"))
	defer r.clock.lap(&r.clock.replace)()
	made, err := r.c.Replace(uniform, comm.ReplaceSpec{Ranks: a.Ranks, Handover: a.Handover, Wait: time.Duration(a.Wait)})
	switch {
	case err == nil:
		r.old, r.c, r.scarce = append(r.old, r.c), made, nil
		return repair.Filled{}
	case errors.Is(err, comm.ErrNoRoom), errors.Is(err, comm.ErrUnsupported):
		r.scarce = err
		return repair.Scarce{}
	case errors.Is(err, comm.ErrMismatch), errors.Is(err, comm.ErrFenced):
		return r.fail(err)
	}
	return repair.Unfilled{}
}

// freeOld frees what the next attempt does not need.
func (r *runner) freeOld() {
	for _, c := range r.old {
		if c != r.world { // Finalize ends the world
			_ = c.Free() // c was made by this runner and is freed once
		}
	}
	r.old = nil
}

// inform reports that the program continues in another state: repaired, or restored from files.
func (r *runner) inform(event string, values []slog.Attr, format string, args ...any) {
	logline.Write(r.cfg.Log, logline.Event{Name: event, Values: values}, "recovery: "+format, args...)
}

// warn reports data that could not be written, read or deleted.
func (r *runner) warn(event string, values []slog.Attr, format string, args ...any) {
	logline.Write(r.cfg.Log, logline.Event{Level: slog.LevelWarn, Name: event, Values: values}, "recovery: "+format, args...)
}

// attrs is a list of values of an event.
func attrs(values ...slog.Attr) []slog.Attr { return values }
