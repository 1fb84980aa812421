package rma

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// Rebuild makes a window on c of the memory of an old one, after a failure: each member's elements
// are those that it had in old, in place, whatever ranks it has now (W20). A member that had none
// passes a nil old: it gets no elements, or what the options say. Locks, counters of notifications
// and posts begin anew. The old window works on as it did, and has the same elements, until it is
// freed.
//
//	left, err := c.Shrink(ctx)
//	w2, err := rma.Rebuild(ctx, left, w)
//	err = w.Free()
//
// Collective over c, uniform as Allocate, with its errors; besides comm.ErrFreed for an old window
// that was freed without Keep, comm.ErrArgument for a View, and the errors of Inherit.
func Rebuild[T comm.Elem](ctx context.Context, c *comm.Comm, old *Win[T], o ...Option) (*Win[T], error) {
	s := specOf[T]("rebuild", 0, o)
	if old != nil {
		s.old, s.own = old.k, old.k.spec.own
	}
	k, err := create(ctx, c, s.rebuilt())
	if err == nil && s.old != nil {
		s.old.letGo()
	}
	return made[T](k, err)
}

// Inherit has this member's elements in a Rebuild be those of a dead member of the old window, by
// its rank there, as they are after its death is known: a copy. It is this member's alone: others
// inherit somebody else, or nothing. Errors of the Rebuild: comm.ErrRank for a rank that the old
// window does not have, comm.ErrArgument for one that is not known to be dead, and without an old
// window; comm.ErrUnsupported for one whose memory is not shared: Heirs says who can.
func Inherit(oldRank int) Option {
	return func(s *spec) { s.heir, s.dead = true, oldRank }
}

// Heirs returns for each of some dead ranks of an old window which rank of c can Inherit its
// elements: one that shares memory with the dead, as those of its node do; comm.Undefined where
// none is left, as after the loss of a node. Different dead have different heirs, as far as there
// are. All members of c pass the same ranks, and the window or, who did not have it, nil. The
// result has the length of dead.
//
//	heirs, err := rma.Heirs(ctx, left, w, []int{dead})
//	if heirs[0] == left.Rank() {
//		o = append(o, rma.Inherit(dead))
//	}
//	w2, err := rma.Rebuild(ctx, left, w, o...)
//
// Collective over c, with the errors of an Allreduce; comm.ErrRank for a rank that the window does
// not have.
func Heirs[T comm.Elem](ctx context.Context, c *comm.Comm, old *Win[T], dead []int) ([]int, error) {
	n := c.Size()
	turn := make([]int, len(dead)) // how many come before this rank; n: it cannot
	for i, rank := range dead {
		turn[i] = n
		if old == nil {
			continue
		}
		if rank < 0 || rank >= old.k.n {
			return nil, old.k.raise(old.k.fail("heirs", nil, fmt.Errorf("%w: %d of %d", comm.ErrRank, rank, old.k.n)))
		}
		if !old.k.isAway(rank) {
			turn[i] = (c.Rank() - rank%n + n) % n
		}
	}
	first := make([]int, len(dead))
	if err := collectives.Allreduce(ctx, c, first, turn, collectives.Min); err != nil {
		return nil, err
	}
	for i, rank := range dead {
		if first[i] == n {
			first[i] = comm.Undefined
		} else {
			first[i] = (first[i] + rank) % n
		}
	}
	return first, nil
}

// Fresh has this member get n new, zeroed elements in a Rebuild in place of those that it had: for
// members that come new. It is this member's alone.
func Fresh(n int) Option {
	return func(s *spec) { s.fresh, s.n = true, n }
}

// rebuilt says what a Rebuild asks for, or what is wrong with it.
func (s spec) rebuilt() spec {
	old := s.old
	switch {
	case s.err != nil:
	case s.heir && s.fresh:
		s.err = fmt.Errorf("%w: both Inherit and Fresh", comm.ErrArgument)
	case old != nil && old.view:
		s.err = errView
	case s.heir && old == nil:
		s.err = fmt.Errorf("%w: Inherit without an old window", comm.ErrArgument)
	case s.fresh || old == nil:
	case old.sight.Load().freed && old.kept.Load() == nil:
		s.err = comm.ErrFreed
	case !s.heir:
		s.n = old.memories()[old.me].n
	case s.dead < 0 || s.dead >= old.n:
		s.err = fmt.Errorf("%w: %d of %d", comm.ErrRank, s.dead, old.n)
	case !old.look().dead[s.dead]:
		s.err = fmt.Errorf("%w: rank %d is not known to be dead", comm.ErrArgument, s.dead)
	case old.isAway(s.dead):
		s.err = fmt.Errorf("%w: the memory of rank %d is not shared with its heir", comm.ErrUnsupported, s.dead)
	default:
		s.n = old.memories()[s.dead].n
	}
	return s
}
