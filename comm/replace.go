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

// A ReplaceSpec says which ranks of the new communicator newcomers get.
type ReplaceSpec struct {
	Ranks    []int         // distinct, of the members of c and the newcomers together; not empty
	Handover []byte        // what the newcomers are told: see Handover; the same at all members
	Wait     time.Duration // how long rank 0 waits for processes if there are too few; 0: not at all
}

// Replace starts a process for each of s.Ranks and returns a communicator in which those have these
// ranks and the members of c the others, in their order. The processes run the program of the job
// with the arguments of this one; there the communicator is Joined. Spares that wait (goulfm run
// --spares) are taken in place of new processes, if as many are there with seats in a row.
//
// Collective. It works on a revoked communicator, and it has one outcome at all living members:
// success, or an error that Is ErrProcFailed if a member has died or left, ErrNoRoom if so many
// processes cannot be had, ErrPeerArgument if one could not be started (rank 0 gets the reason,
// which Is ErrProcFailed where it was killed or lost with its node), ErrMismatch if members gave
// different ranks. What fails leaves no process. A death that comes later is found on the new
// communicator, which has the mode of c (SetUniform). After a failure it takes a Shrink of c, of
// what is left of it, to try again.
//
//	left, err := c.Shrink(ctx)
//	...
//	c, err = left.Replace(ctx, comm.ReplaceSpec{Ranks: lost})
//
// It takes goulfm run with exact deaths; else the error Is ErrUnsupported. When ctx ends
// only the wait is given up.
func (c *Comm) Replace(ctx context.Context, s ReplaceSpec) (*Comm, error) {
	const op = "replace"
	if err := given(ctx, op, c); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fail(op, c, nil, fmt.Errorf("%w: %w", ErrNotBegun, err))
	}
	by, ranks := starting{c}, slices.Clone(s.Ranks)
	started, bad := by.startNewcomers(ctx, s)
	return by.settleStarted(ctx, op, func() (*Comm, error) { return by.agreeOnNewcomers(ranks, s.Handover, started, bad) })
}

// Joined returns, in a process that Replace started, the communicator in which it has a rank;
// else nil.
func (c *Comm) Joined() *Comm { return c.w.joined }

// Handover returns, in a process that Replace started, what the others hand over to it.
func (c *Comm) Handover() []byte { return slices.Clone(c.w.handover) }

// startNewcomers has the launcher start the processes. That there are too few of them is no
// error of this member: it is told to all by their number.
func (c starting) startNewcomers(ctx context.Context, s ReplaceSpec) (started newcomers, bad error) {
	if !commstate.RanksFit(s.Ranks, c.Size()) {
		return started, fmt.Errorf("%w: newcomers with ranks %v beside %d members: want distinct ranks of the new communicator", ErrArgument, s.Ranks, c.Size())
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

// askAgain is how long rank 0 waits until it asks again for processes that could not be had.
const askAgain = 100 * time.Millisecond

func waitBetweenAsking(ctx context.Context, left time.Duration) {
	select {
	case <-time.After(min(left, askAgain)):
	case <-ctx.Done():
	}
}

// agreeOnNewcomers makes the communicator with the newcomers, and tells the launcher whether
// they are wanted.
func (c starting) agreeOnNewcomers(ranks []int, handover []byte, started newcomers, bad error) (*Comm, error) {
	const op = "replace"
	in := engine.Contribution{Spawned: started.seats(), Ranks: ranks, Digest: commstate.Digest(ranks...), Veto: bad != nil}
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
