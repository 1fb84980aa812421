package shmem

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
)

// Fence orders all puts of this PE to each PE before later ones to the same PE. No Fence is needed
// before a P, an atomic operation or a signal (shmem_fence).
func (h *Heap) Fence() { h.win.Sync() }

// Quiet returns when all earlier operations of this PE have taken effect everywhere. Its error
// names the dead PEs: Quiet has completed at all others (shmem_quiet).
func (h *Heap) Quiet(ctx context.Context) error { return h.win.FlushAll(ctx) }

// BarrierAll is Quiet, and returns when all PEs have entered BarrierAll: earlier stores are then
// visible at all PEs. Collective. A BarrierAll that is entered after a PE has died fails wherever
// it is entered; one in which a PE dies may fail at some and succeed at others, whose next one
// fails (shmem_barrier_all).
func (h *Heap) BarrierAll(ctx context.Context) error { return h.win.Fence(ctx) }

// SyncAll returns when all PEs have entered SyncAll, and completes no operations. Collective, with
// the errors of BarrierAll (shmem_sync_all, shmem_team_sync).
func (h *Heap) SyncAll(ctx context.Context) error {
	return h.told("sync_all", collectives.Barrier(ctx, h.win.Comm()))
}

// told raises the error of a call on the communicator of the window, whose error handler has not
// seen the error yet.
func (h *Heap) told(op string, err error) error {
	if err == nil {
		return nil
	}
	return h.raise(h.failBy(op, err))
}
