package shmem

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
)

// Fence has all puts of this PE to each PE be there before later ones to the same. Before a P, an
// atomic operation or a signal none is needed (shmem_fence).
func (h *Heap) Fence() { h.win.Sync() }

// Quiet returns when all operations of this PE before have taken effect everywhere. Its error names
// the PEs that are dead: it has completed at all others (shmem_quiet).
func (h *Heap) Quiet(ctx context.Context) error { return h.win.FlushAll(ctx) }

// BarrierAll is Quiet, and returns when all PEs have come to it: what was stored before it is there
// after it, at all. Collective. When a PE has died it fails wherever it is entered later; one in
// which a PE dies may fail at some and succeed at others, whose next one fails (shmem_barrier_all).
func (h *Heap) BarrierAll(ctx context.Context) error { return h.win.Fence(ctx) }

// SyncAll returns when all PEs have come to it, and completes nothing. Collective, with the errors
// of BarrierAll (shmem_sync_all, shmem_team_sync).
func (h *Heap) SyncAll(ctx context.Context) error {
	return h.told("sync_all", collectives.Barrier(ctx, h.win.Comm()))
}

// told returns the error of a call on the communicator of the window, which nobody has heard of
// yet.
func (h *Heap) told(op string, err error) error {
	if err == nil {
		return nil
	}
	return h.raise(h.failBy(op, err))
}
