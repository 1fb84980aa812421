package rma

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// Flush returns when all earlier operations of this member on the target have taken effect there
// (P2, MPI 12.5.4, MPI_Win_flush). Errors: comm.ErrProcFailed when the target is known to be dead;
// comm.ErrRank, comm.ErrRevoked, comm.ErrFreed, comm.ErrFenced; the error of a ctx that ends before
// the answer of a target whose memory is not shared. nil means that they took effect before the
// target was declared dead here (W5), and implies nothing about a later death.
func (t Target[T]) Flush(ctx context.Context) error {
	fence()
	err := t.k.toward(ctx, "flush", t.rank)
	switch {
	case err != nil:
	case t.k.isAway(t.rank):
		err = t.k.flushAway(ctx, "flush", t.rank)
	default:
		t.k.ring(t.rank)
	}
	return t.k.raise(err)
}

// FlushLocal returns when the slices of all operations on the target belong to the caller again: at
// once, since each operation returns them. FlushLocal exists for programs that know the MPI call
// (MPI 12.5.4, MPI_Win_flush_local).
func (t Target[T]) FlushLocal(ctx context.Context) error {
	return t.k.raise(t.k.toward(ctx, "flush_local", t.rank))
}

// FlushAll is Flush of all targets. Its error comm.ErrProcFailed names the dead: FlushAll has
// completed at all others (W5, MPI 12.5.4, MPI_Win_flush_all).
func (w *Win[T]) FlushAll(ctx context.Context) error {
	return w.k.raise(w.k.flushAll(ctx, "flush_all", true))
}

// FlushLocalAll is FlushLocal of all targets.
func (w *Win[T]) FlushLocalAll(ctx context.Context) error {
	return w.k.raise(w.k.flushAll(ctx, "flush_local_all", false))
}

func (k *core) flushAll(ctx context.Context, op string, there bool) error {
	if ctx == nil {
		return k.fail(op, nil, errNoContext)
	}
	fence()
	s := k.sees()
	if s.err != nil || !there {
		return k.failGone(op, s)
	}
	for rank := range k.n {
		k.ring(rank)
	}
	if err := k.flushLiving(ctx, op, s); err != nil {
		return err
	}
	return k.failGone(op, k.sees())
}

// flushLiving is flushAway of all living ranks. Those that die meanwhile are no error.
func (k *core) flushLiving(ctx context.Context, op string, s *sight) error {
	if k.away == nil {
		return nil
	}
	var living []int
	for rank := range k.n {
		if !s.dead[rank] {
			living = append(living, rank)
		}
	}
	if err := k.flushAway(ctx, op, living...); !errors.Is(err, comm.ErrProcFailed) {
		return err
	}
	return nil
}

// Fence returns when all members have entered the Fence and all earlier operations, of all of them,
// have taken effect: later accesses of a member see them (MPI 12.5.1, MPI_Win_fence). Collective.
//
// A Fence that is entered after a member has died fails wherever it is entered; one in which a
// member dies may fail at some and succeed at others (W14). After success or comm.ErrProcFailed the
// caller's own operations on living targets are complete; after the next agreement on Comm those of
// all the living with such a result are (W15). If ctx ends first the window is revoked, as by
// blocking collectives (W24). Errors: comm.ErrProcFailed, comm.ErrRevoked, comm.ErrFreed,
// comm.ErrFenced.
func (w *Win[T]) Fence(ctx context.Context) error {
	return w.k.raise(w.k.fenceAll(ctx))
}

func (k *core) fenceAll(ctx context.Context) error {
	const op = "fence"
	if ctx == nil {
		return k.fail(op, nil, errNoContext)
	}
	fence()
	s := k.sees()
	if s.err != nil {
		return k.fail(op, nil, s.err)
	}
	if err := k.flushLiving(ctx, op, s); err != nil {
		if ctx.Err() != nil {
			_ = k.c.Revoke() // as the barrier would (W24)
		}
		return err
	}
	return k.failBy(op, collectives.Barrier(ctx, k.c))
}

// ring wakes goroutines of a member that wait for a change of its memory. A member that is away is
// woken by its own server. Ringing a dead member's bell is harmless.
func (k *core) ring(rank int) {
	if k.away != nil {
		k.stir(rank)
		return
	}
	k.watch.Wake(k.pieces[rank].control.Bell())
}

// stir is ring for a window in which some members are away: others may wait for their frames at the
// same time.
func (k *core) stir(rank int) {
	if k.away[rank] {
		return // its server rings
	}
	k.watch.Wake(k.pieces[rank].control.Bell())
	k.watch.Stir(rank)
}
