package rma

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// Wait returns when ok returns true for this member's own element disp, with its value, loaded
// atomically. All stores of the storing member to this target before the store of this value (P1)
// are visible then (OpenSHMEM shmem_wait_until). ok is called often, and must return soon.
//
// From are the ranks that may store the awaited value: when one of them is dead the error is
// comm.ErrProcFailed. Without from, any death that is not acknowledged on Comm causes this error,
// as in a receive from any rank (R48). A condition that holds takes precedence, then a revocation,
// then the end of ctx, which withdraws the wait, then deaths (W17). Other errors: comm.ErrRank,
// ErrBounds, comm.ErrType as of Load, comm.ErrRevoked, comm.ErrFreed, comm.ErrFenced.
func (w *Win[T]) Wait(ctx context.Context, disp int, ok func(T) bool, from ...int) (T, error) {
	v, err := waitFor(ctx, w.k, disp, ok, from)
	return v, w.k.raise(err)
}

func waitFor[T comm.Elem](ctx context.Context, k *core, disp int, ok func(T) bool, from []int) (T, error) {
	const op = "wait"
	var v T
	if err := k.mayWait(ctx, op, from); err != nil {
		return v, err
	}
	if err := k.atomic(op); err != nil {
		return v, err
	}
	p := &k.pieces[k.me]
	if disp < 0 || disp >= p.n {
		return v, k.fail(op, nil, fmt.Errorf("%w: element %d of %d", ErrBounds, disp, p.n))
	}
	e, at := window.At(p.data[disp*k.unit:], k.unit), p.at+disp*k.unit
	err := k.await(ctx, op, from, func() bool {
		v = fromBits[T](p.stripes.load(e, at))
		return ok(v)
	})
	return v, err
}

// mayWait returns an error if the arguments of a wait are invalid, or the window was freed.
func (k *core) mayWait(ctx context.Context, op string, from []int) error {
	if ctx == nil {
		return k.fail(op, nil, errNoContext)
	}
	if k.sight.Load().freed {
		return k.fail(op, nil, comm.ErrFreed)
	}
	for _, rank := range from {
		if rank < 0 || rank >= k.n {
			return k.fail(op, nil, fmt.Errorf("%w: %d of %d", comm.ErrRank, rank, k.n))
		}
	}
	return nil
}

// await returns when done holds, or when another event ends the wait: see Wait.
func (k *core) await(ctx context.Context, op string, from []int, done func() bool) error {
	return k.awaitOf(ctx, op, from, nil, done)
}

// awaitOf is await where reports on a job that hangs name other ranks than from: the holders of a
// lock, which done waits for, and not its target.
func (k *core) awaitOf(ctx context.Context, op string, from []int, holders func() []int, done func() bool) error {
	var err error
	var ranks []int
	over := func() bool {
		if done() {
			return true
		}
		if ranks, err = k.sees().ends(ctx, from); err != nil {
			ranks, err = k.look().ends(ctx, from) // an acknowledgement does not move the epoch
		}
		if err != nil && done() { // stores of the dead before their deaths count
			ranks, err = nil, nil
			return true
		}
		return err != nil
	}
	k.watch.Await(k.pieces[k.me].control.Bell(), engine.Reason{Op: op, Ranks: from, All: holders != nil, Ask: holders}, over)
	return k.fail(op, ranks, err)
}

// ends returns the reason why a wait for those ranks is over; without ranks, a wait for any rank.
func (s *sight) ends(ctx context.Context, from []int) (ranks []int, err error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case ctx.Err() != nil:
		return from, ctx.Err()
	case len(from) == 0 && len(s.unacked) > 0:
		return slices.Clone(s.unacked), comm.ErrProcFailed
	}
	for _, rank := range from {
		if s.dead[rank] {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) > 0 {
		return ranks, comm.ErrProcFailed
	}
	return nil, nil
}
