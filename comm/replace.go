package comm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// A ReplaceSpec selects the ranks of the new communicator that replacements get.
type ReplaceSpec struct {
	Ranks    []int         // distinct, of the members of c and the replacements together; not empty
	Handover []byte        // data for the replacements, which Handover returns; the same at all members
	Wait     time.Duration // how long rank 0 waits for processes if there are too few; 0: not at all
}

// Replace starts a process for each of s.Ranks and returns a communicator in which the new
// processes have these ranks. The members of c have the other ranks, in their order. The processes
// run the program of the job with the arguments of rank 0, and get the communicator from Joined.
// Waiting spares (goulfm run --spares) are used in place of new processes if enough of them have
// consecutive slots; spares have the arguments of the job.
//
// Collective. Replace works on a revoked communicator and has one outcome at all living members:
// success, or one of these errors. ErrProcFailed: a member has died or left. ErrNoRoom: the job
// cannot start so many processes. ErrPeerArgument: a process could not be started; rank 0 gets the
// reason, which Is ErrProcFailed if the process was killed or lost with its node. ErrArgument: this
// member passed ranks that the new communicator would not have, or a rank twice, or none; the
// others get ErrPeerArgument. ErrMismatch: members passed different ranks, or made another call.
// After an error no new process remains. A later death is detected on the new communicator, which
// has the mode of c (SetUniform). After a failure, call Shrink on c and retry with the result.
//
//	left, err := c.Shrink(ctx)
//	...
//	c, err = left.Replace(ctx, comm.ReplaceSpec{Ranks: lost})
//
// Replace requires goulfm run with exact deaths; otherwise the error Is ErrUnsupported. If ctx is
// over at the call, the error Is ErrNotBegun. When ctx ends later, Replace abandons only the wait.
// If however the ctx of rank 0 ends before the processes are started, Replace fails at all members.
func (c *Comm) Replace(ctx context.Context, s ReplaceSpec) (*Comm, error) {
	const op = "replace"
	if err := given(ctx, op, c); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fail(op, c, nil, fmt.Errorf("%w: %w", ErrNotBegun, err))
	}
	by, ranks := starting{c}, slices.Clone(s.Ranks)
	started, bad := by.startReplacements(ctx, s)
	return by.settleStarted(ctx, op, func() (*Comm, error) { return by.agreeOnReplacements(ranks, s.Handover, started, bad) })
}

// Joined returns, in a process that Replace started, the communicator in which this process has a
// rank; else nil.
func (c *Comm) Joined() *Comm { return c.w.joined }

// Handover returns, in a process that Replace started, a copy of ReplaceSpec.Handover; else nil.
func (c *Comm) Handover() []byte { return slices.Clone(c.w.handover) }

// startReplacements makes the launcher start the processes. A shortage of processes is no error of
// this member: the agreement reports the number to all.
func (c starting) startReplacements(ctx context.Context, s ReplaceSpec) (started startedProcesses, bad error) {
	if !commstate.RanksFit(s.Ranks, c.Size()) {
		return started, fmt.Errorf("%w: replacements with ranks %v beside %d members: want distinct ranks of the new communicator", ErrArgument, s.Ranks, c.Size())
	}
	ask := rankproto.Spawn{N: len(s.Ranks), Args: os.Args[1:], Replace: true}
	for begun := time.Now(); ; {
		started, bad = c.startProcesses(ctx, ask)
		if !errors.Is(bad, ErrNoRoom) {
			return started, bad
		}
		if time.Since(begun) >= s.Wait {
			return started, nil
		}
		waitBetweenAsking(ctx, s.Wait-time.Since(begun))
	}
}

// askAgain is how long rank 0 waits before the next request for processes that were not available.
const askAgain = 100 * time.Millisecond

func waitBetweenAsking(ctx context.Context, left time.Duration) {
	select {
	case <-time.After(min(left, askAgain)):
	case <-ctx.Done():
	}
}

// agreeOnReplacements makes the communicator with the replacements, and reports to the launcher
// whether to keep them.
func (c starting) agreeOnReplacements(ranks []int, handover []byte, started startedProcesses, bad error) (*Comm, error) {
	const op = "replace"
	in := engine.Contribution{Spawned: started.slots(), Ranks: ranks, Digest: commstate.Digest(ranks...), Veto: bad != nil}
	_, made, err := c.e.Call(context.Background(), commstate.Call{Kind: commstate.KindReplace}, in, op)
	switch {
	case bad != nil && errors.Is(err, ErrPeerArgument):
		err = bad
	case errors.Is(err, commstate.ErrScarce):
		err = fmt.Errorf("%w: %d processes asked for: give the job more with goulfm run --universe N", ErrNoRoom, len(ranks))
	}
	if err != nil {
		if c.w.starter != nil {
			c.dropSpawned(started)
		}
		return nil, failAny(op, c.Comm, err)
	}
	all := c.child(made, c.epoch+1)
	g := made.Identity()
	name, repairs := engine.Repairs(made)
	c.w.starter.Say(rankproto.Keep{First: made.Numbers()[ranks[0]], Procs: g.Procs, Indices: g.Indices, UID: g.UID[:],
		Place: &rankproto.Place{Name: name, Repairs: repairs, Epoch: all.epoch, Uniform: all.uniform.Load(), Fresh: g.Fresh, Memory: c.w.memory != nil, Handover: handover}})
	return all, nil
}
