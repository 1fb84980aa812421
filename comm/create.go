package comm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// Dup returns a communicator of the same members with messages of its own. Collective over the
// members; it succeeds at every live member or at none, unless a revocation overtakes the call: see
// package ulfm. The same holds for every call that creates a communicator. A duplicate has the
// topology of c (Cart, Graph, DistGraph); the communicators of Split, SplitNode, Create,
// CreateGroup and Shrink have none.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) {
	if err := given(ctx, "dup", c); err != nil {
		return nil, err
	}
	return c.createWith(ctx, c.topo, commstate.Call{Kind: commstate.KindDup}, engine.Contribution{}, nil, "dup")
}

// Split returns, for each colour, a communicator of the members that passed that colour, in the
// order of their keys, ties by rank. With colour Undefined the result is nil. Collective; it
// succeeds at every live member or at none. A member that passes a colour below 0 other than
// Undefined gets ErrArgument, and the others get ErrPeerArgument.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	if err := given(ctx, "split", c); err != nil {
		return nil, err
	}
	var bad error
	if color < 0 && color != Undefined {
		bad = fmt.Errorf("%w: colour %d: want 0 or more, or Undefined", ErrArgument, color)
	}
	return c.create(ctx, commstate.Call{Kind: commstate.KindSplit}, engine.Contribution{Color: color, Key: key}, bad, "split")
}

// SplitNode returns a communicator of the members that run on the same node as this process and
// share memory, in the order of their ranks. Collective; it succeeds at every live member or at
// none (MPI 7.4.2, MPI_COMM_TYPE_SHARED). A job on a single machine is one node, unless goulfm run
// --host N starts several nodes there.
func (c *Comm) SplitNode(ctx context.Context) (*Comm, error) {
	if err := given(ctx, "split_node", c); err != nil {
		return nil, err
	}
	return c.create(ctx, commstate.Call{Kind: commstate.KindSplitNode}, engine.Contribution{Color: c.w.proc.Node()}, nil, "split_node")
}

// Create returns a communicator of the members of g, in the order of g; at members of c that are
// not in g the result is nil. Collective over c, and all members pass the same group: it succeeds
// at every live member or at none (R56). If the groups differ all get ErrMismatch. A member that
// passes a group with a process outside c gets ErrRank, and the others get ErrPeerArgument.
func (c *Comm) Create(ctx context.Context, g Group) (*Comm, error) {
	if err := given(ctx, "create", c); err != nil {
		return nil, err
	}
	in := engine.Contribution{Color: Undefined, Digest: commstate.Digest(g.procs...)}
	if rank := slices.Index(g.procs, c.w.proc.Number()); rank >= 0 {
		in.Color, in.Key = 0, rank
	}
	return c.create(ctx, commstate.Call{Kind: commstate.KindCreate}, in, c.holds(g), "create")
}

// CreateGroup returns a communicator of the members of g, in the order of g. Only the members of g
// make the call. The other members of c neither wait for the call nor learn of it, and may have
// failed (R57). A caller outside g takes no part and gets nil. The call succeeds at every live
// member of g or at none (R56), and fails if a member of g is dead. The tag, 0 to 1<<31-1,
// distinguishes calls of the same members; calls with the same tag match in their order. At most 16
// calls of one process may be under way on c.
//
// An argument that is wrong at one caller alone is an error of that caller alone, because the
// callers cannot learn of the fault before they have found each other: ErrRank for a group with a
// process outside c, ErrTag for a tag out of range, ErrLength for a call above the limit. Callers
// that pass different members or different tags wait for each other, as for a missing call: ctx
// ends the wait, and the error names the ranks. The same members in another order are ErrMismatch
// at all. A revocation of c ends the call.
func (c *Comm) CreateGroup(ctx context.Context, g Group, tag int) (*Comm, error) {
	const op = "create_group"
	if err := given(ctx, op, c); err != nil {
		return nil, err
	}
	err := c.holds(g)
	if err == nil && (tag < 0 || tag > math.MaxInt32) {
		err = fmt.Errorf("%w: %d: want 0 to %d", ErrTag, tag, math.MaxInt32)
	}
	if err != nil || !slices.Contains(g.procs, c.w.proc.Number()) {
		return nil, fail(op, c, nil, err)
	}
	in := engine.Contribution{Members: g.slots(), Tag: tag}
	_, made, err := c.e.Call(ctx, commstate.Call{Kind: commstate.KindCreateGroup}, in, op)
	if err != nil {
		return nil, fail(op, c, nil, err)
	}
	return c.child(made, c.epoch), nil
}

// holds returns an error if g has a process that is no member of c.
func (c *Comm) holds(g Group) error {
	for _, proc := range g.procs {
		if c.e.RankOfNumber(proc) < 0 {
			return fmt.Errorf("%w: process %d is no member", ErrRank, proc)
		}
	}
	return nil
}

// createWith is create for a communicator that has a topology.
func (c *Comm) createWith(ctx context.Context, t topology, call commstate.Call, in engine.Contribution, bad error, op string) (*Comm, error) {
	made, err := c.create(ctx, call, in, bad, op)
	if made != nil {
		made.topo = t
	}
	return made, err
}

// create makes a call that creates a communicator. bad is the error in this member's arguments:
// such a member takes part, votes no, and returns bad in place of ErrPeerArgument.
func (c *Comm) create(ctx context.Context, call commstate.Call, in engine.Contribution, bad error, op string) (*Comm, error) {
	in.Veto = bad != nil
	_, made, err := c.e.Call(ctx, call, in, op)
	if bad != nil && errors.Is(err, ErrPeerArgument) {
		err = bad
	}
	if err != nil {
		return nil, failAny(op, c, err)
	}
	return c.child(made, c.epoch), nil
}

func (c *Comm) child(e *engine.Comm, epoch uint64) *Comm {
	if e == nil {
		return nil
	}
	made := &Comm{e: e, w: c.w, epoch: epoch}
	made.handler.Store(c.handler.Load())
	made.warnOfMany()
	made.uniform.Store(c.uniform.Load())
	made.family = c.family
	made.family.add(e)
	return made
}
