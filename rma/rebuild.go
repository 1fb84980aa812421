package rma

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// Rebuild makes a window on c of the memory of an old one, after a failure: each member keeps its
// elements of old, in place, whichever rank the member now has (W20). A member without an old
// window passes a nil old, and gets no elements, or those of its options. Locks, counters of
// notifications and posts begin anew. The old window still works, and has the same elements, until
// it is freed.
//
//	left, err := c.Shrink(ctx)
//	w2, err := rma.Rebuild(ctx, left, w)
//	err = w.Free()
//
// Collective over c, uniform as Allocate, with its errors; besides comm.ErrFreed for an old window
// that was freed and has no memory left that Keep retained, comm.ErrArgument for a View, and the
// errors of Inherit.
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

// Inherit gives this member, in a Rebuild, a copy of the elements of a dead member of the old
// window, by its rank there, as they are after its death is known. Inherit is this member's own
// option: others inherit from another rank, or not at all. Errors of the Rebuild: comm.ErrRank for
// a rank that the old window does not have, comm.ErrArgument for a rank that is not known to be
// dead (of a freed window: was not at Free, see Keep), without an old window, and together with
// Fresh; comm.ErrUnsupported for a rank whose memory is not shared: Heirs finds a member that can
// inherit.
func Inherit(oldRank int) Option {
	return func(s *spec) { s.heir, s.dead = true, oldRank }
}

// Heirs returns, for each of some dead ranks of an old window, the rank of c that can Inherit its
// elements: a rank that shares memory with the dead, such as those of its node. The result is
// comm.Undefined if none is left, such as after the loss of a node. Different dead may have the
// same heir. All members of c pass the same ranks, and the window, or nil if they did not have the
// window. The result has the length of dead.
//
//	heirs, err := rma.Heirs(ctx, left, w, []int{dead})
//	if heirs[0] == left.Rank() {
//		o = append(o, rma.Inherit(dead))
//	}
//	w2, err := rma.Rebuild(ctx, left, w, o...)
//
// Collective over c, with the errors of an Allreduce. A rank that the window does not have is
// comm.ErrRank at all members, a nil communicator comm.ErrArgument.
func Heirs[T comm.Elem](ctx context.Context, c *comm.Comm, old *Win[T], dead []int) ([]int, error) {
	const op = "heirs"
	if c == nil {
		return nil, &comm.Error{Op: op, Err: fmt.Errorf("%w: no communicator", comm.ErrArgument)}
	}
	n := c.Size()
	turn := make([]int, len(dead)) // number of ranks before this rank; n: this rank cannot inherit; -1: no rank
	for i, rank := range dead {
		turn[i] = n
		if old == nil {
			continue
		}
		if rank < 0 || rank >= old.k.n {
			turn[i] = -1 // the other members wait in the Allreduce
		} else if !old.k.isAway(rank) {
			turn[i] = (c.Rank() - rank%n + n) % n
		}
	}
	first := make([]int, len(dead))
	if err := collectives.Allreduce(ctx, c, first, turn, collectives.Min); err != nil {
		return nil, err
	}
	for i, rank := range dead {
		switch first[i] {
		case -1:
			return nil, door.Raise(c, &comm.Error{Op: op, Comm: c.Name(), Err: fmt.Errorf("%w: %d is no rank of the window", comm.ErrRank, rank)})
		case n:
			first[i] = comm.Undefined
		default:
			first[i] = (first[i] + rank) % n
		}
	}
	return first, nil
}

// Fresh gives this member, in a Rebuild, n new, zeroed elements instead of its old ones: for new
// members. Fresh is this member's own option.
func Fresh(n int) Option {
	return func(s *spec) { s.fresh, s.n = true, n }
}

// rebuilt completes the request of a Rebuild, or sets its error.
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
