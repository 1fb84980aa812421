package matrix

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/ulfm"
)

// An Env connects a cell with the world around the job.
type Env interface {
	// Die ends the calling rank and does not return. After Await of the sign has returned, the
	// process is dead.
	Die(sign string)
	// Raise gives a sign that every rank can await. The sign travels outside of the job.
	Raise(sign string)
	// Await returns once the sign was given, or ctx is over.
	Await(ctx context.Context, sign string)
}

// A Cell is one call in one state.
type Cell struct {
	Call  Call
	State spectable.State
}

// Name names the cell: "Recv from peer / peer dead, known".
func (x Cell) Name() string { return x.Call.Name + " / " + x.State.Name }

// Ranks returns the number of processes of the cell.
func (x Cell) Ranks() int {
	if x.State.Stranger != spectable.Never {
		return spectable.Stranger + 1
	}
	return spectable.Ranks
}

// Cells returns the cells of the table.
func Cells() []Cell {
	var all []Cell
	for _, call := range Calls() {
		for _, st := range spectable.States() {
			if spectable.Relevant(call.Class, st) {
				all = append(all, Cell{call, st})
			}
		}
	}
	return all
}

// A Report is the result of the call at one rank.
type Report struct {
	Rank    int
	Outcome spectable.Outcome
	Knew    int      // failures known here when the call was made
	Wrong   []string // violations of the rules
}

// Wrong returns the violations of the rules in the reports of one run.
func (x Cell) Wrong(reports []Report) []string {
	var wrong []string
	for _, r := range reports {
		wrong = append(wrong, r.Wrong...)
		// A revocation on top of a death may end a creation at some ranks only.
		mixed := len(x.State.Dead) > 0 && x.State.Revoked != spectable.Never
		if x.Call.Class.Uniform() && !mixed && r.Outcome != reports[0].Outcome {
			wrong = append(wrong, fmt.Sprintf("not uniform: %v at rank %d, %v at rank %d", reports[0].Outcome, reports[0].Rank, r.Outcome, r.Rank))
		}
	}
	return wrong
}

// Run executes the part of one rank in the cell. The result ok is false if the rank has nothing to
// report. Victims do not return.
func (x Cell) Run(ctx context.Context, w *comm.Comm, env Env) (report Report, ok bool) {
	r := &run{Cell: x, env: env, w: w, c: w, me: w.Rank()}
	if err := r.make(ctx); err != nil {
		return Report{Rank: r.me, Outcome: spectable.Other, Wrong: []string{"no communicator to begin with: " + err.Error()}}, true
	}
	if r.me == spectable.Stranger {
		r.stranger(ctx)
	}
	r.together(ctx, "made", spectable.Ranks)
	r.prepare(ctx)
	r.together(ctx, "prepared", len(r.living()))
	report, ok = r.act(ctx)
	if why := r.goesOn(ctx); why != "" {
		report.Rank, ok = r.me, true
		report.Wrong = append(report.Wrong, why)
	}
	return report, ok
}

// Loosely makes the call on c without any preparation. The other side does its part at once, and
// victim is killed at some point, or not. Either the death or the success may come first. A dead
// peer may or may not have done its part.
func (x Cell) Loosely(ctx context.Context, w, c *comm.Comm, victim int) (Report, bool) {
	x.State = spectable.State{Name: "killed on the way", Dead: []int{victim}, Died: spectable.During, Served: spectable.During}
	r := &run{Cell: x, w: w, c: c, me: w.Rank(), anytime: true}
	switch {
	case r.me == victim && victim != spectable.Peer && !x.Call.Class.Collective():
		return Report{}, false
	case r.me == spectable.Caller || x.Call.Class.Collective():
		s := &site{c: c, rank: r.me, polled: func() {}, living: r.survivors(), dead: x.State.Dead, anytime: r.anytime}
		want := spectable.Expect(x.Call.Class, x.State)
		want.Outcomes = append([]spectable.Outcome{spectable.OK}, want.Outcomes...)
		r.listen()
		report := r.judge(x.Call.Do(ctx, s), want)
		return report, r.me != victim
	case r.me == spectable.Peer:
		r.serve(ctx)
	}
	return Report{}, false
}

// A run is a cell at one rank.
type run struct {
	Cell
	env  Env
	w, c *comm.Comm
	base *comm.Comm // the parent of c, if the parent is to be revoked
	me   int

	anytime bool // the other side's part does not wait until the call waits

	told   atomic.Int32 // errors reported to the communicator's handler
	posted comm.Request // of a server that receives
	in     []int
}

// make makes the communicator, unless the call is made on the world.
func (r *run) make(ctx context.Context) (err error) {
	parent := r.w
	if r.State.Elsewhere {
		if r.base, err = r.w.Dup(ctx); err != nil {
			return err
		}
		parent = r.base
	}
	if r.Call.World {
		return nil
	}
	if r.State.Stranger == spectable.Never {
		r.c, err = parent.Dup(ctx)
		return err
	}
	color := 0
	if r.me == spectable.Stranger {
		color = comm.Undefined
	}
	r.c, err = parent.Split(ctx, color, 0)
	return err
}

// stranger is the life of the process that is not a member.
func (r *run) stranger(ctx context.Context) {
	for q := range spectable.Ranks {
		r.env.Await(ctx, fmt.Sprintf("made %d", q))
	}
	if r.State.Stranger == spectable.During {
		r.env.Await(ctx, "waiting")
	}
	r.env.Die("stranger dead")
}

// elsewhere waits until all ranks know of the events outside of the communicator.
func (r *run) elsewhere(ctx context.Context) {
	if r.State.Stranger == spectable.Before {
		r.env.Await(ctx, "stranger dead")
		for r.w.GetFailed().Size() == 0 && ctx.Err() == nil {
			runtime.Gosched()
		}
	}
	if !r.State.Elsewhere {
		return
	}
	if r.me == spectable.Revoker {
		_ = r.base.Revoke()
	}
	for !r.base.IsRevoked() && ctx.Err() == nil {
		runtime.Gosched()
	}
}

// together returns when n ranks have arrived here.
func (r *run) together(ctx context.Context, where string, n int) {
	r.env.Raise(fmt.Sprintf("%s %d", where, r.me))
	ranks := r.living()
	if n == spectable.Ranks {
		ranks = []int{0, 1, 2, 3}
	}
	for _, q := range ranks {
		r.env.Await(ctx, fmt.Sprintf("%s %d", where, q))
	}
}

// living returns the ranks that do not die before the call.
func (r *run) living() []int {
	var all []int
	for q := range spectable.Ranks {
		if r.State.Died == spectable.During || !slices.Contains(r.State.Dead, q) {
			all = append(all, q)
		}
	}
	return all
}

func (r *run) survivors() []int {
	return slices.DeleteFunc([]int{0, 1, 2, 3}, func(q int) bool { return slices.Contains(r.State.Dead, q) })
}

func (r *run) victim() bool { return slices.Contains(r.State.Dead, r.me) }

// server reports whether this rank does the other side's part.
func (r *run) server() bool {
	return !r.Call.Class.Collective() && spectable.Serves(r.Call.Class, r.State) && r.me == spectable.Server(r.Call.Class, r.State)
}

// prepare brings the communicator into the state: messages, deaths,
// acknowledgements, revocation, in that order.
func (r *run) prepare(ctx context.Context) {
	r.elsewhere(ctx)
	if r.State.Served == spectable.Before {
		r.serveBefore(ctx)
	}
	if r.State.Died == spectable.Before || r.State.Died == spectable.Unaware {
		bury(ctx, r.env, r.me, r.State, r.c)
	}
	r.acknowledge()
	switch r.State.Revoked {
	case spectable.Before, spectable.Unaware:
		revoke(ctx, r.env, r.me, r.State.Revoked, r.c)
	}
}

func (r *run) serveBefore(ctx context.Context) {
	if r.server() {
		switch r.Call.Class {
		case spectable.Synchronous:
			r.post()
		default:
			r.send(ctx)
		}
		r.env.Raise("served")
	}
	r.env.Await(ctx, "served")
}

// bury makes the victims die, and returns when all are dead. If they die before the call, bury
// returns once rank me knows all these deaths.
func bury(ctx context.Context, env Env, me int, st spectable.State, c *comm.Comm) {
	if slices.Contains(st.Dead, me) {
		env.Die(fmt.Sprintf("dead %d", me))
	}
	for _, q := range st.Dead {
		env.Await(ctx, fmt.Sprintf("dead %d", q))
	}
	for st.Died == spectable.Before && c.GetFailed().Size() < len(st.Dead) && ctx.Err() == nil {
		runtime.Gosched()
	}
}

func (r *run) acknowledge() {
	switch r.State.Acked {
	case spectable.Part:
		_, _ = r.c.AckFailed(1)
	case spectable.All:
		_, _ = r.c.AckFailed(r.c.Size())
	}
}

// revoke makes a communicator revoked, and returns after the revocation. If the revocation comes
// before the call, revoke returns once rank me knows of it.
func revoke(ctx context.Context, env Env, me int, when spectable.Moment, c *comm.Comm) {
	if me == spectable.Revoker {
		_ = c.Revoke()
		env.Raise("revoked")
	}
	env.Await(ctx, "revoked")
	for when == spectable.Before && !c.IsRevoked() && ctx.Err() == nil {
		runtime.Gosched()
	}
}

// act makes the call, or causes the events that must happen while others are in the call.
func (r *run) act(ctx context.Context) (Report, bool) {
	if r.State.Died == spectable.During && r.victim() {
		r.env.Await(ctx, "waiting")
		r.env.Die(fmt.Sprintf("dead %d", r.me))
	}
	if r.State.Revoked == spectable.During && r.me == spectable.Revoker {
		r.env.Await(ctx, "waiting")
		_ = r.c.Revoke()
	}
	if r.server() && r.State.Served == spectable.During {
		r.env.Await(ctx, "waiting")
		r.serve(ctx)
	}
	if r.me != spectable.Caller && !r.Call.Class.Collective() {
		return Report{}, false
	}
	knew := door.Engine(r.w).Proc().Declared().Len() // GetFailed would poll first
	r.listen()
	report := r.judge(r.call(ctx), spectable.Expect(r.Call.Class, r.State))
	report.Knew = knew
	return report, true
}

// call makes the call and raises a sign once the call waits, or is over.
func (r *run) call(ctx context.Context) error {
	dead := r.State.Dead
	var looked, over atomic.Bool
	s := &site{c: r.c, rank: r.me, polled: func() { looked.Store(true) }, living: r.survivors(), dead: dead, revoked: r.State.Revoked == spectable.During}
	if r.me != spectable.Caller {
		return r.Call.Do(ctx, s)
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for !looked.Load() && !over.Load() && len(door.Engine(r.w).Proc().Waits()) == 0 {
			runtime.Gosched()
		}
		r.env.Raise("waiting")
	}()
	err := r.Call.Do(ctx, s)
	over.Store(true)
	<-watched
	return err
}

// post posts the receive of a synchronous send.
func (r *run) post() {
	r.in = make([]int, long)
	r.posted = comm.Irecv(r.c.From(spectable.Caller), r.in)
}

// serve does the other side's part of the call. Its own errors do not matter: the caller's are
// judged.
func (r *run) serve(ctx context.Context) {
	switch {
	case r.Call.Class == spectable.Buffered && !r.Call.Value:
		_, _ = comm.Recv(ctx, r.c.From(spectable.Caller), []int{0})
	case r.Call.Class == spectable.Synchronous && !r.Call.Value:
		_, _ = comm.Recv(ctx, r.c.From(spectable.Caller), make([]int, long))
	case r.Call.Class == spectable.Buffered:
		_, _, _ = comm.RecvValue[int](ctx, r.c.From(spectable.Caller))
	case r.Call.Class == spectable.Synchronous:
		_, _, _ = comm.RecvValue[string](ctx, r.c.From(spectable.Caller))
	case r.Call.Class == spectable.Named, r.Call.Class == spectable.Wild, r.Call.Class == spectable.WildPosted:
		r.send(ctx)
	}
}

// send sends the message of a receive.
func (r *run) send(ctx context.Context) {
	if r.Call.Value {
		_ = comm.SendValue(ctx, r.c.To(spectable.Caller), 7)
		return
	}
	_ = comm.Send(ctx, r.c.To(spectable.Caller), []int{7})
}

// listen counts the reports to the communicator's error handler.
func (r *run) listen() {
	r.c.SetErrorHandler(func(_ *comm.Comm, err error) error {
		r.told.Add(1)
		return err
	})
}

// tellings returns the bounds on the number of reports to the handler for a call with an outcome
// (R5): one for each error that the call returns. Cells of several calls are exempt.
func (r *run) tellings(o spectable.Outcome) (least, most int32) {
	switch {
	case r.Call.Class == spectable.Self, r.Call.Name == "SetErrorHandler", r.Call.Name == "Request.Cancel":
		return 0, math.MaxInt32
	case o == spectable.OK:
		return 0, 0
	case o == spectable.Pending && r.anytime: // the request may complete in the second wait
		return 1, 2
	case o == spectable.Pending && r.State.Revoked == spectable.During: // and a third report if the request could not be cancelled
		return 2, 3
	case o == spectable.Pending: // a second wait follows
		return 2, 2
	}
	return 1, 1
}

// judge compares the result of the call with the rules.
func (r *run) judge(err error, want spectable.Expectation) Report {
	report := Report{Rank: r.me, Outcome: outcome(err)}
	complain := func(format string, args ...any) {
		report.Wrong = append(report.Wrong, fmt.Sprintf("rank %d: ", r.me)+fmt.Sprintf(format, args...))
	}
	if !slices.Contains(want.Outcomes, report.Outcome) {
		complain("returned %v (%v), expected %v", report.Outcome, err, want.Outcomes)
		return report
	}
	if least, most := r.tellings(report.Outcome); r.told.Load() < least || r.told.Load() > most {
		complain("the handler was called %d times, expected %d", r.told.Load(), least)
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
	if name := door.Engine(r.c).Name(); e.Comm != name {
		complain("the error's communicator is %q, expected %q", e.Comm, name)
	}
	if report.Outcome != spectable.Revoked {
		if why := ranks(e.Ranks, want); why != "" {
			complain("%s", why)
		}
	}
	return report
}

// ranks returns the fault of the ranks that an error names.
func ranks(got []int, want spectable.Expectation) string {
	all := slices.Sorted(slices.Values(got))
	if len(got) == 0 || want.Exactly && !slices.Equal(all, want.Ranks) {
		return fmt.Sprintf("the error names ranks %v, expected %v", got, want.Ranks)
	}
	for _, q := range got {
		if !slices.Contains(want.Ranks, q) {
			return fmt.Sprintf("the error names rank %d, which is not among %v", q, want.Ranks)
		}
	}
	return ""
}

func outcome(err error) spectable.Outcome {
	switch {
	case err == nil:
		return spectable.OK
	case errors.Is(err, errWrong):
		return spectable.Other
	case errors.Is(err, ulfm.ErrRevoked):
		return spectable.Revoked
	case errors.Is(err, ulfm.ErrProcFailedPending):
		return spectable.Pending
	case errors.Is(err, ulfm.ErrProcFailed):
		return spectable.Failed
	}
	return spectable.Other
}

// goesOn checks the conditions after every cell: the live ranks can shrink the communicator,
// whatever its state, and the result works (R1, R40, R44).
func (r *run) goesOn(ctx context.Context) string {
	if r.Call.World || r.Call.Op == "free" {
		return ""
	}
	if r.posted != (comm.Request{}) {
		_, _ = r.posted.Wait(ctx)
	}
	s, err := r.c.Shrink(ctx)
	if err != nil {
		return fmt.Sprintf("rank %d: afterwards: %v", r.me, err)
	}
	if got := s.Group().Processes(); !slices.Equal(got, r.survivors()) {
		return fmt.Sprintf("rank %d: shrunk to %v instead of %v", r.me, got, r.survivors())
	}
	if err := collectives.Barrier(ctx, s); err != nil {
		return fmt.Sprintf("rank %d: the shrunk communicator does not work: %v", r.me, err)
	}
	return ""
}
