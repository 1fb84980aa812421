package shmem

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

// Repair makes a heap of the living PEs, after a failure. Their objects keep their places and their
// contents; PEs are numbered anew, in the old order; locks are free. On converts symbols of the old
// heap to the new one:
//
//	h2, err := h.Repair(ctx)
//	x, err = x.On(h2)
//	err = h.Free()
//
// Collective over the living PEs: Repair revokes the old heap. A PE in a call there gets
// comm.ErrRevoked, and then calls Repair, too. The data of the dead can be read in the old heap
// (Salvage) until that heap is freed. PEs that die meanwhile are left out. If ctx ends first the
// heap cannot be repaired any more.
//
// Errors: comm.ErrArgument for a team, comm.ErrMismatch when a cancelled collective call has left
// PEs with different objects, comm.ErrFreed, and those of comm.Comm.Shrink and rma.Rebuild that are
// not caused by a death.
func (h *Heap) Repair(ctx context.Context) (*Heap, error) {
	const op = "repair"
	if h.root != h {
		return nil, h.raise(h.fail(op, nil, fmt.Errorf("%w: a team: repair the heap that it was made of", comm.ErrArgument)))
	}
	if ctx == nil {
		return nil, h.raise(h.fail(op, nil, fmt.Errorf("%w: nil context", comm.ErrArgument)))
	}
	if err := h.win.Revoke(); err != nil {
		return nil, err
	}
	if err := h.gather(ctx); err != nil {
		return nil, h.raise(h.failBy(op, err))
	}
	for {
		left, err := h.c.Shrink(ctx)
		if err != nil {
			return nil, err
		}
		n, err := h.on(ctx, left)
		if err == nil {
			return n, nil
		}
		if !comm.Recoverable(err) {
			return nil, h.raise(h.failBy(op, err))
		}
	}
}

// on returns the heap on a communicator of some of its PEs, which the new heap owns. The result is
// uniform.
func (h *Heap) on(ctx context.Context, left *comm.Comm) (*Heap, error) {
	w, err := rma.Rebuild(ctx, left, h.win)
	if err != nil {
		return nil, errors.Join(err, left.Free())
	}
	h.mu.Lock()
	n := &Heap{c: left, owned: true, kin: h.kin, space: h.space.Clone(), repairs: h.repairs + 1}
	h.mu.Unlock()
	if err = n.use(w); err == nil {
		err = n.agree(ctx, "repair", n.space.Digest(), nil)
	}
	if err != nil {
		return nil, errors.Join(err, w.Free(), left.Free())
	}
	return n, nil
}
