// Package shmem provides a partitioned global address space in the manner of OpenSHMEM 1.5, with
// defined failures. Each processing element (PE) has a heap of the same size, in which objects have
// the same place everywhere. All PEs read, write and change all objects while their owner does
// other work, or is dead.
//
//	h, err := shmem.New(ctx, world, 1<<20)             // a megabyte at each PE
//	x, err := shmem.Alloc[float64](ctx, h, 100)        // 100 elements at each PE
//	err = x.Put(ctx, 3, []float64{1, 2})               // into PE 3's
//	n, err := shmem.FetchAdd(ctx, tickets, 0, 0, 1)    // a ticket from PE 0
//	err = h.BarrierAll(ctx)
//
// PEs are the ranks of a communicator. A heap is a window of package rma, which defines order
// (P1-P3), atomicity, the memory model, and failures (W1-W24 of docs/SEMANTICS.md): all of that
// holds here.
//
// # Differences from OpenSHMEM
//
//   - There is no global state: heaps are values, there may be several, and a program's data segment
//     is never symmetric.
//   - Objects have types; elements are counted, and an index out of range is rma.ErrBounds.
//   - Errors are returned, and calls that wait take a context.
//   - P, atomic operations and signals come after all earlier operations on that PE: no Fence is
//     needed between data and a flag.
//   - All operations are complete when they return; Iput and Iget exist for programs that wait for
//     several events at once. Contexts (shmem_ctx_create) therefore have no purpose.
//   - Locks are granted in no order.
//
// # Atomic operations
//
// Fetch, Set, Swap, CompareSwap, FetchOp, Add, And, Or, Xor, Inc and the functions that begin with
// Fetch change or return element i, from 0, of one PE. They take effect after every operation of
// this PE on that PE whose call happened before (P1). Their errors are those of Put, and
// comm.ErrType for records and complex128.
//
// # Collectives
//
// Broadcast, Collect, Fcollect, Alltoall, Reduce, Scan and Exscan involve all PEs of the heap or
// team of dst, which must be that of src, too. All PEs pass the same objects and parts. A PE reads
// its own part of src and writes its own part of dst. Collectives do not complete other operations.
// After the death of a PE they fail as those of package collectives do.
//
// # Failures
//
// OpenSHMEM does not define failures. Here an operation on a dead PE returns comm.ErrProcFailed
// with this PE; operations among the living still succeed, barriers and collectives excepted. A
// wait ends when a PE dies that may have stored the awaited value. A lock with a dead holder
// returns an error, and can be mended. All living PEs together repair a heap: objects keep their
// places and their contents.
//
//	if comm.Recoverable(err) {
//		h2, err := h.Repair(ctx)      // collective over the living
//		x2, err := x.On(h2)           // the same elements, in place
//		err = x.Salvage(dead, copy)   // what the dead had
//		err = h.Free()
//	}
//
// # Not promised
//
// The objects of a dead PE of another node cannot be salvaged: comm.ErrUnsupported.
package shmem
