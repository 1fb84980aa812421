package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/ulfm"
)

// A SpawnSpec describes the processes that Spawn starts.
type SpawnSpec struct {
	N       int      // processes, at least 1
	Program string   // a file, a name in PATH, or a Go package; empty: the program of the job
	Args    []string // of the program
	Env     []string // NAME=VALUE, added to the environment of the job
}

// Spawn starts s.N processes in the running job and returns an intercommunicator of the members of
// c, in their order, and the new processes; Merge makes one communicator of both. Only the s of
// rank 0 counts. The new processes have a world of their own, and get the other side of the
// intercommunicator from its Parent.
//
// Collective; it succeeds at every live member of c or at none (R56), once all new processes are in
// Init. Spawn fails if a new process cannot be started or ends before that, if a member of c is
// dead, and if the job has memory for fewer processes (goulfm run --universe). After a failure no
// new process remains (R59). Rank 0 gets the reason, which Is ErrProcFailed if a new process was
// killed or lost with its node, and ErrNoRoom if the job lacks memory; the others get
// ErrPeerArgument. Spawn does not replace a lost process in the communicators of the job: Shrink,
// Spawn and Merge make a communicator with as many members as before, and Split orders the members.
//
// If ctx is over at the call, the error Is ErrNotBegun. When ctx ends later, Spawn abandons only
// the wait. If however the ctx of rank 0 ends before the processes are started, Spawn fails at all
// members.
//
// Spawn requires goulfm run with exact deaths; otherwise the error Is ErrUnsupported. MPI 11.8.
func (c *Comm) Spawn(ctx context.Context, s SpawnSpec) (*Intercomm, error) {
	const op = "spawn"
	if err := given(ctx, op, c); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fail(op, c, nil, fmt.Errorf("%w: %w", ErrNotBegun, err))
	}
	if err := c.e.Enter(ulfm.OpCollective); err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
		return nil, failAny(op, c, err)
	}
	by := starting{c}
	started, bad := by.startProcesses(ctx, rankproto.Spawn{N: s.N, Program: s.Program, Args: s.Args, Env: s.Env})
	union, err := by.settleStarted(ctx, op, func() (*Comm, error) { return by.agreeOnSpawn(started, bad) })
	if err != nil {
		return nil, err
	}
	first := c.Size()
	return newIntercomm(union, span(0, first), span(first, union.Size())), nil
}

// starting is a communicator during a call that starts processes.
type starting struct{ *Comm }

// startedProcesses are processes that the launcher has started, with consecutive slots.
type startedProcesses struct {
	first int // number of the first one
	count int
}

// slots returns the slots of these processes in the form that the agreement uses.
func (n startedProcesses) slots() commstate.Spawned {
	return commstate.Spawned{First: node.Slot(n.first), Count: n.count}
}

// settleStarted waits for the agreement on started processes. The agreement does not end with the
// caller's context, because each member that knows the outcome must report to the launcher. If the
// caller abandons the wait, a goroutine frees the new communicator: the other members must not wait
// for a member that does not use the communicator.
func (c starting) settleStarted(ctx context.Context, op string, agree func() (*Comm, error)) (*Comm, error) {
	type settled struct {
		made *Comm
		err  error
	}
	ended := make(chan settled, 1)
	go func() {
		made, err := agree()
		ended <- settled{made, err}
	}()
	select {
	case r := <-ended:
		return r.made, r.err
	case <-ctx.Done():
		go func() {
			if r := <-ended; r.made != nil {
				_ = r.made.Free()
			}
		}()
		return nil, fail(op, c.Comm, nil, ctx.Err())
	}
}

// startProcesses makes the launcher start the processes that rank 0 requests; at other ranks
// startProcesses starts nothing. In a job that cannot start processes, all ranks get
// ErrUnsupported.
func (c starting) startProcesses(ctx context.Context, ask rankproto.Spawn) (started startedProcesses, bad error) {
	p := c.w.starter
	switch {
	case p == nil && c.w.process != nil:
		return started, fmt.Errorf("%w: %s needs exact detection: run without --detector ring", ErrUnsupported, purposeOf(ask))
	case p == nil:
		return started, fmt.Errorf("%w: Spawn takes a job of goulfm run", ErrUnsupported)
	case c.Rank() != 0:
		return started, nil
	case ask.N < 1:
		return started, fmt.Errorf("%w: %d processes to start: want at least 1", ErrArgument, ask.N)
	}
	ask.Procs = c.e.Numbers()
	answer, err := p.Ask(ctx, ask, func(late rankproto.Spawned) { c.dropSpawned(startedProcesses{late.First, late.N}) })
	switch {
	case err != nil:
		return started, err
	case answer.Short:
		return started, fmt.Errorf("%w: %s", ErrNoRoom, answer.Why)
	case answer.Died:
		return started, fmt.Errorf("%w: %s", ErrProcFailed, answer.Why)
	case answer.Why != "":
		return started, errors.New(answer.Why)
	}
	return startedProcesses{answer.First, answer.N}, nil
}

// purposeOf names the call that requests processes.
func purposeOf(ask rankproto.Spawn) string {
	if ask.Replace {
		return "replacement"
	}
	return "Spawn"
}

// agreeOnSpawn makes the communicator with the new processes, and reports to the launcher whether
// to keep them.
func (c starting) agreeOnSpawn(started startedProcesses, bad error) (*Comm, error) {
	call, in := commstate.Call{Kind: commstate.KindSpawn}, engine.Contribution{Spawned: started.slots()}
	union, err := c.create(context.Background(), call, in, bad, "spawn")
	if err != nil {
		if c.w.starter != nil {
			c.dropSpawned(started)
		}
		return nil, err
	}
	g := union.e.Identity()
	c.w.starter.Say(rankproto.Keep{First: union.e.Numbers()[c.Size()], Procs: g.Procs, Indices: g.Indices, UID: g.UID[:]})
	return union, nil
}

// dropSpawned reports to the launcher that the started processes are not needed. A member other
// than rank 0 does not know their number: its report names rank 0, and counts if rank 0 is dead and
// could not report the number. The first new process may be in slot 0, once the processes with
// which the job began are dead.
func (c starting) dropSpawned(started startedProcesses) {
	switch {
	case started.count > 0:
		c.w.starter.Say(rankproto.Drop{First: started.first, N: started.count})
	case c.Rank() != 0:
		c.w.starter.Say(rankproto.Drop{Root: c.e.Numbers()[0]})
	}
}

// noteDropOfTheDead reports to the launcher that this process keeps no process that was started by
// a member which a shrink left out. This process may never have learnt of such a start:
//
//	0 decides a shrink, {0 2 3} is left. It has processes started for a Replace, and dies.
//	2 decides that shrink with 3 later: {2 3} is left, and they start others.
//
// Without this report no process would ever release the first ones. While these wait in Init they
// might refer to any of the dead, so that no slot would become free again.
//
// The report waits until the repair is over: only 2 and 3 could have kept the first ones. An
// immediate message from each survivor would wake up the launcher once per survivor inside Shrink,
// while the survivors need the processors: that took longer than the shrink itself.
func (c starting) noteDropOfTheDead(made *engine.Comm) {
	if c.w.starter == nil {
		return
	}
	for _, proc := range c.e.Numbers() {
		if made.RankOfNumber(proc) < 0 {
			c.w.starter.Note(rankproto.Drop{Root: proc})
		}
	}
}

func span(from, to int) []int {
	var all []int
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// Spawned reports whether this process was started by Spawn or Replace.
func (c *Comm) Spawned() bool { return c.w.parent != nil || c.w.joined != nil }

// Parent returns, in a process that Spawn started, the intercommunicator with the members that
// called Spawn; else nil.
func (c *Comm) Parent() *Intercomm { return c.w.parent }

// meetParent waits until the processes that started this process agree to keep it, and returns the
// communicator with them. The Place is not nil if this process gets a rank among them.
func meetParent(p *boot.Process) (*commstate.Group, *rankproto.Place, error) {
	m, err := p.Kept()
	if err != nil {
		return nil, nil, err
	}
	g := &commstate.Group{Index: commstate.SpawnedIndex, Procs: m.Procs, Indices: m.Indices, Me: slices.Index(m.Procs, p.Info.Proc())}
	if len(m.UID) != len(g.UID) || len(m.Indices) != len(m.Procs) || g.Me < 0 {
		return nil, nil, errors.New("the launcher and this program are built from different versions")
	}
	g.Fresh = m.Place != nil && m.Place.Fresh
	copy(g.UID[:], m.UID)
	return g, m.Place, nil
}

// takeParent makes the new process's side of the communicator that Spawn or Replace returned.
func (w *world) takeParent(place *rankproto.Place) {
	union := &Comm{e: w.proc.Union(), w: w}
	if place != nil {
		union.epoch = place.Epoch
		union.uniform.Store(place.Uniform)
		w.joined, w.handover = union, place.Handover
		return
	}
	first := union.Size() - w.proc.World().Size()
	w.parent = newIntercomm(union, span(0, first), span(first, union.Size()))
}
