package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/ulfm"
)

// Dup returns a communicator of the same members with messages of its own.
// Collective over the members; it succeeds at every live one or at none, unless it is
// overtaken by a revocation: see package ulfm. So it is with every call that makes a
// communicator. A duplicate has the topology of c (Cart, Graph, DistGraph); what
// Split, Create and Shrink make has none.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) {
	return c.createWith(ctx, c.topo, ulfm.Call{Kind: ulfm.KindDup}, engine.Contribution{}, nil, "dup")
}

// Split returns, for each colour, a communicator of the members that gave it, in
// the order of their keys, ties by rank. With colour Undefined the result is
// nil. Collective; it succeeds at every live member or at none: a colour below 0
// that is not Undefined is ErrLength where it was given and ErrPeerArgument at
// the others.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	var bad error
	if color < 0 && color != Undefined {
		bad = fmt.Errorf("%w: colour %d: want 0 or more, or Undefined", ErrLength, color)
	}
	return c.create(ctx, ulfm.Call{Kind: ulfm.KindSplit}, engine.Contribution{Color: color, Key: key}, bad, "split")
}

// SplitNode returns a communicator of the members that run on the same node as this
// one, in the order of their ranks: those that share memory. Collective; it succeeds
// at every live member or at none (MPI 7.4.2, MPI_COMM_TYPE_SHARED). A job of one
// machine is one node.
func (c *Comm) SplitNode(ctx context.Context) (*Comm, error) {
	return c.create(ctx, ulfm.Call{Kind: ulfm.KindSplitNode}, engine.Contribution{Color: c.w.proc.Node()}, nil, "split_node")
}

// Create returns a communicator of the members of g, in the order of g; at members
// of c that are not in g the result is nil. Collective over c, and all members pass
// the same group: it succeeds at every live member or at none (R56). If the groups
// differ all get ErrMismatch; a group with a process that is no member of c is
// ErrRank where it was given and ErrPeerArgument at the others.
func (c *Comm) Create(ctx context.Context, g Group) (*Comm, error) {
	in := engine.Contribution{Color: Undefined, Digest: ulfm.Digest(g.procs...)}
	if rank := slices.Index(g.procs, c.w.proc.Me()); rank >= 0 {
		in.Color, in.Key = 0, rank
	}
	return c.create(ctx, ulfm.Call{Kind: ulfm.KindCreate}, in, c.holds(g), "create")
}

// holds returns what is wrong with a group that should be of members of c.
func (c *Comm) holds(g Group) error {
	for _, proc := range g.procs {
		if c.e.RankOf(proc) < 0 {
			return fmt.Errorf("%w: process %d of the world is no member", ErrRank, proc)
		}
	}
	return nil
}

// createWith is create for a communicator that has a topology.
func (c *Comm) createWith(ctx context.Context, t topology, call ulfm.Call, in engine.Contribution, bad error, op string) (*Comm, error) {
	made, err := c.create(ctx, call, in, bad, op)
	if made != nil {
		made.topo = t
	}
	return made, err
}

// create makes a call that makes a communicator. bad is what is wrong with this
// member's arguments: it takes part and votes no then, and is told so in place of
// ErrPeerArgument.
func (c *Comm) create(ctx context.Context, call ulfm.Call, in engine.Contribution, bad error, op string) (*Comm, error) {
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
	return made
}
