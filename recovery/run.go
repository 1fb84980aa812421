package recovery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/comm"
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

// Main is the main function of a program that outlives its processes: comm.Main whose body is
// Run. It takes goulfm run; elsewhere the dead cannot be replaced (Config.Short).
func Main(cfg Config, body Body) {
	comm.MainWith(cfg.Comm, func(ctx context.Context, w *comm.Comm) error { return Run(ctx, w, cfg, body) })
}

// Run calls body until all ranks have finished, on the members of w, which is a world and which
// nothing has used before; in a process that has replaced another one, on those that it has
// joined. Collective. Its error is the same at all living ranks; one whose body has failed
// gets that error, too. Once a rank was replaced w is freed, and is only finalized afterwards.
func Run(ctx context.Context, w *comm.Comm, cfg Config, body Body) error {
	r, err := newRunner(ctx, w, cfg, body)
	if err != nil {
		return err
	}
	return r.run()
}

// A runner is one process in the world of its program: it carries out what the rules say.
type runner struct {
	ctx   context.Context // Run's: its end asks for a stop
	cfg   Config
	body  Body
	world *comm.Comm // the one that Finalize ends: not for us to free

	mu    sync.Mutex // of rules: a revocation is heard beside the body
	rules *repair.World

	c     *comm.Comm   // the newest communicator; base of an attempt once there is one on it
	old   []*comm.Comm // to free when the next attempt begins
	mem   memory
	own   savings
	home  *home        // in the memory of the node; nil: there is none
	alone bool         // no copies are sent: that memory is enough, at all ranks
	files *files       // nil: there are none
	last  repair.Label // committed or restored, and here: what static members are shared with

	w       *World         // the attempt
	reply   *repair.Return // of the call that is being handled
	next    *repair.Run    // the attempt that is to begin
	outcome *repair.Outcome
	failure error // a call of the library that has failed for good
	scarce  error // why the last Replace had no processes; nil: it had
	fatal   error // of this rank's body
	peer    error // the class of what ended the program at the lowest rank

	joined bool         // it has replaced another process
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
	if cfg.Log == nil {
		cfg.Log = os.Stderr
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

// layout says who keeps what of whom, of ranks on these nodes: of the present world, or of the one
// that has made a version, which had copies or parity if it was on several nodes, wherever all are
// now.
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
		Layout: r.layout,
		Short:  repair.Short(r.cfg.Short), Wait: mono.Duration(r.cfg.Wait), Tries: r.cfg.Tries, Every: r.cfg.Every, Files: r.files != nil, Must: r.cfg.Files.Must, Verify: r.cfg.Verify,
	}
}

func (r *runner) run() error {
	defer r.endFiles() // also where a test ends the process in its body
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

// sameAs is an error of another rank, which is one of this package.
type sameAs struct {
	error
	class error
}

// Unwrap makes it that error, too.
func (e sameAs) Unwrap() []error { return []error{e.error, e.class} }

// ofBody is an error of the body of this rank, and ErrPeer, whose text it does not repeat.
type ofBody struct{ error }

// Unwrap makes it both.
func (e ofBody) Unwrap() []error { return []error{ErrPeer, e.error} }

// explain adds to ErrTooFew why processes could not be had.
func (r *runner) explain(err error) error {
	if errors.Is(err, ErrTooFew) && r.scarce != nil {
		return fmt.Errorf("%w: %w", err, r.scarce)
	}
	return err
}

// errorOf is what Run returns.
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

// handle gives an event to the rules and does what they say, until there is nothing to do. Once a
// call has failed for good, as that of a process that is fenced, the rules wait for an answer that
// will not come: what the body does then is nothing to them.
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

// perform does one thing, and returns what came of it if the rules wait for that.
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

// now is the time since this process has begun to observe failures: those before it has replaced
// somebody are not its own.
func (r *runner) now() mono.Time { return mono.Time(time.Since(r.begun)) }

// uniform is the context of calls that have one outcome at all: nobody gives up the wait.
var uniform = context.Background()

// fail ends Run: a call that cannot fail has failed.
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

// isOfTheDead says whether a call has failed since one of the dead had made another one in its
// place. A process that dies may have come to another outcome of the call before:
//
//	0 and 2  have committed, and go on; 2 is in the next boundary when both die
//	1        hears of that, and for it the same boundary ends the attempt: it calls Shrink
//
// That is ErrMismatch at all who live, and their next call meets nobody but them.
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
		if c != r.world { // Finalize ends that one
			_ = c.Free() // it was made here and is freed once
		}
	}
	r.old = nil
}

// told writes a line for people.
func (r *runner) told(format string, args ...any) {
	_, _ = fmt.Fprintf(r.cfg.Log, "goulfm: "+format+"\n", args...) // nobody waits for it
}
