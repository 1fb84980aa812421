// Package rma is one-sided communication: each member of a communicator lends memory to the others,
// a window, which they read, write and change atomically while its owner does something else, or
// is dead. Every failure is defined.
//
//	w, err := rma.Allocate[int64](ctx, world, 100)        // 100 elements at each member
//	err = w.At(3).Put(ctx, 0, []int64{1, 2, 3})           // into rank 3's memory
//	n, err := w.At(0).FetchAndOp(ctx, 7, 1, collectives.Sum) // a ticket from rank 0
//	err = w.Fence(ctx)                                    // all that was put is there, at all
//
// # Problem
//
// In MPI the memory of a window may be undefined after a failure, and a lock whose holder is killed
// is lost for ever. A program that wants to go on after a death can then trust nothing that lay in
// a window.
//
// # What is promised
//
// No epochs are needed for access: any member may access from creation to Free. Lock, Fence, Post
// and Start only synchronise.
//
// Order (P1-P3). A Store, FetchAndOp, CompareAndSwap or notification takes effect after every
// operation on that target whose call happened before it: data and then a flag need no flush. Flush
// says that all operations before it took effect. There is no other order.
//
// Atomicity. Load, Store, FetchAndOp, CompareAndSwap and each element of an Accumulate are atomic
// with each other, and with package sync/atomic on Local and Slice. Put and Get are not, but tear
// no number; only a Get from memory of the program's own (Create) may tear one that is stored at
// the same time.
//
// Memory model. An atomic operation that sees another one's value, a WaitNotify that counts a
// PutNotify, a Lock after an Unlock, a WaitPosted after a Complete, and what follows a Fence after
// what was before it at any member: these are ordered, as in Go's memory model. All else that
// touches the same elements at the same time, and one of them stores, is a race. With ranks that
// are goroutines (comm/commtest) a window is Go memory, and the race detector finds them. (Elements
// of 1 and 2 bytes are changed with their neighbours of one 4-byte word: it takes a put to a
// neighbour at that time for a race, which it is not.)
//
// # Several nodes
//
// Members of a node access each other's memory by copies and instructions, and the target does
// nothing. To one of another node, with --fence to any, and to memory of the program's own (Create;
// but for a Get on its node) a member sends frames, which the target's process executes when they
// come, while its program computes; so such a put is there when a Flush, an Unlock or a Fence says
// so. Everything else is the same.
//
// # Objects
//
// A View is a part of a window's bytes as elements of another type. In a Pool members make objects
// by themselves, at any time, and tell others where these are by a Ref. Package shmem is a
// symmetric heap in a window.
//
// # Failures
//
// W1 to W24 of docs/SEMANTICS.md; docs/ONESIDED.md explains them. In short: an operation on a
// living target never fails because of a third member's death, Fence excepted. On a target that is
// known to be dead it is comm.ErrProcFailed, without effect. After a death at any instruction each
// number is one that somebody has written; once anybody knows of the death nothing of the dead is
// stored any more. The memory of the dead can be read (Salvage) and taken over (Rebuild, Inherit).
// A dead holder's lock is told, and mended.
//
// # What is not promised
//
//   - The memory of a dead member of another node, and of one that has made the window of its own memory (Create), cannot
//     be read by others: Salvage and Inherit are comm.ErrUnsupported.
//   - A system call of the program into memory of a window, as a read from a file, may go on after its death
//     was declared.
package rma
