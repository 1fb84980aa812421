// Package rma provides one-sided communication. Each member of a communicator lends memory, a
// window, to the others. They read, write and atomically change this memory while its owner does
// other work. After the owner's death, members that share this memory can still read it. The effect
// of every failure is defined.
//
//	w, err := rma.Allocate[int64](ctx, world, 100)        // 100 elements at each member
//	err = w.At(3).Put(ctx, 0, []int64{1, 2, 3})           // into rank 3's memory
//	n, err := w.At(0).FetchAndOp(ctx, 7, 1, collectives.Sum) // a ticket from rank 0
//	err = w.Fence(ctx)                                    // all that was put is there, at all
//
// # Problem
//
// In MPI the memory of a window may be undefined after a failure, and a lock whose holder is killed
// is lost for ever. A program that continues after a death can then trust no data in a window.
//
// # Promises
//
// No epochs are needed for access: any member may access from creation to Free. Lock, Fence, Post
// and Start only synchronise.
//
// Order (P1-P3). A Store, FetchAndOp, CompareAndSwap or notification takes effect after every
// operation of the same member on that target whose call happened before it: data and then a flag
// need no flush. Flush returns when all earlier operations of this member on the target have taken
// effect. There is no other order.
//
// Atomicity. Load, Store, FetchAndOp, CompareAndSwap and each element of an Accumulate (of
// complex128 each component) are atomic with each other and, in a window without Bulk, with package
// sync/atomic on Local and Slice. Put and Get are not atomic, but tear no number; only a Get from
// the program's own memory (Create) may tear a number that is stored at the same time.
//
// Memory model. As in Go's memory model, the following are ordered: an atomic operation that
// observes the value of another one, a WaitNotify that counts a PutNotify, a Lock after an Unlock
// (not both shared), a Start after a Post, a WaitPosted after a Complete, and accesses after a
// Fence after those before it at any member. Other concurrent accesses to the same elements, at
// least one of which is a store, are a race. With ranks that are goroutines (comm/commtest) a
// window is Go memory, and the race detector finds races. (Elements of 1 and 2 bytes are changed
// together with their neighbours in one 4-byte word: the detector falsely reports a race with a
// concurrent put to a neighbour.)
//
// # Several nodes
//
// Members of a node access each other's memory by copies and instructions, and the target does
// nothing. A member sends frames to targets on other nodes, with --fence to all other members, and
// to the owner of the program's own memory (Create; except for a Get on its node, if the kernel
// permits the copy). The target's process executes frames on arrival, while its program computes.
// So such a put may take effect after its return; a Flush, an Unlock or a Fence returns after its
// effect. Slice, Salvage and Inherit need shared memory. All other properties are the same.
//
// # Objects
//
// A View is a part of a window's bytes as elements of another type. In a Pool members allocate
// objects independently, at any time, and pass their locations to others as a Ref. Package shmem is
// a symmetric heap in a window.
//
// # Failures
//
// W1 to W24 of docs/SEMANTICS.md; docs/ONESIDED.md explains them. In short: an access to a living
// target never fails because of a third member's death. A Fence does, and so do a Lock whose
// exclusive holder has died and a wait for the dead member. On a target that is known to be dead an
// operation returns comm.ErrProcFailed, without effect. After a death at any instruction each
// number is one that some member has written as a whole. No store of the dead takes effect any more
// at a target once a member of the target's node knows of the death, or a member that knows of the
// death has made a request there (W7). The memory of the dead can be read (Salvage) and taken over
// (Rebuild, Inherit). A lock whose exclusive holder has died can be mended.
//
// # Not promised
//
//   - The memory of a dead member on another node, of any dead member with --fence, and of a dead
//     member with a window of its own memory (Create), cannot be read by others: Salvage and
//     Inherit return comm.ErrUnsupported.
//   - A system call of the program into memory of a window, such as a read from a file, may
//     continue after the death of its process was declared.
package rma
