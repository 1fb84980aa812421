// Package shmem is a partitioned global address space in the manner of OpenSHMEM 1.5, whose
// failures are defined: each processing element (PE) has a heap of the same size, in which objects
// lie at the same place everywhere, and all read, write and change all of them while their owner
// does something else, or is dead.
//
//	h, err := shmem.New(ctx, world, 1<<20)             // a megabyte at each PE
//	x, err := shmem.Alloc[float64](ctx, h, 100)        // 100 elements at each PE
//	err = x.Put(ctx, 3, []float64{1, 2})               // into PE 3's
//	n, err := shmem.FetchAdd(ctx, tickets, 0, 0, 1)    // a ticket from PE 0
//	err = h.BarrierAll(ctx)
//
// PEs are the ranks of a communicator. A heap is a window of package rma, which says what is
// promised of order (P1-P3), atomicity, the memory model, and failures (W1-W24 of
// docs/SEMANTICS.md): all of that holds here.
//
// # What is other than in OpenSHMEM
//
//   - There is no global state: heaps are values, there may be several, and nothing of a program's data segment is symmetric.
//   - Objects have types; elements are counted, and those that there are not are rma.ErrBounds.
//   - Errors are returned, and calls that wait take a context.
//   - P, atomic operations and signals come after all operations on that PE before them: no Fence is needed between data and a flag.
//   - All operations are complete when they return; Iput and Iget are there for programs that wait for several things at once. So
//     contexts (shmem_ctx_create) have no purpose.
//   - Locks are granted in no order.
//
// # Failures
//
// OpenSHMEM says nothing of them. Here an operation on a dead PE is comm.ErrProcFailed that names
// it; those among the living go on, barriers and collectives excepted. A wait ends when a PE dies
// that may have stored what is waited for. The lock of a dead PE is told, and mended. And a heap is
// repaired, by all that live: objects stay where they are, with what is in them.
//
//	if comm.Recoverable(err) {
//		h2, err := h.Repair(ctx)      // collective over the living
//		x2, err := x.On(h2)           // the same elements, in place
//		err = x.Salvage(dead, copy)   // what the dead had
//		err = h.Free()
//	}
//
// # What is not promised
//
// The objects of a dead PE of another node cannot be salvaged: comm.ErrUnsupported.
package shmem
