// Package control composes one process's control rules: its failure detector (fd), and for each of
// its communicators the failed members, the revocation and the agreements
// (internal/protocol/commstate, era, internal/protocol/flood). Engine and simulator host a Control
// and nothing else: they move frames, tell the time, and carry out actions.
//
// # Problem
//
// Each rule is right by itself; a process is right only if they act in the right
// order. Control holds that order:
//
//   - A declared death first closes the process - no later frame of it counts
//     (A6) - and is reported, then reaches every communicator with that member.
//   - A decided agreement first declares the deaths it names, then gives its
//     result (R31). A process that finds itself among them is fenced: it returns
//     no result any more (A24, B20).
//   - Whatever arrives for a communicator that does not exist here yet is held,
//     not dropped: agreements, and revocations above all (A3, B4).
//
// # Context indices
//
// Each process draws 32-bit indices from a counter of its own, and tells them
// to the others in its contribution to the call that makes the communicator.
// Frames carry the receiver's index, so finding the communicator is an array
// index and two communicators cannot be taken for each other. An index is
// pending, live, then freed, and never used again.
//
// On one node an index also says which block of the process's shared memory its
// communicator has (Config.Blocks). Blocks are used again, indices are not. So
// everything in a block is tagged with the index for which it was written, and a
// block is prepared before anybody learns of the next index. The block of an index
// that this process gave up while others may have taken it up is not used again:
// theirs is the right to go on without this process, and a word there may say how.
//
// # Gathering
//
// A creation from a group is made by some members of a communicator, who have no
// agreement of their own. They make a communicator without one, hidden from the
// program, and agree on it: see gathering. Its index is of a range of its own, and the
// owner of the Control hears nothing of it.
//
// # Uniform mode
//
// A communicator may be set to be revoked by the first failure of a member (C9). Each
// process does so by itself, in the step in which it declares the death.
//
// # Forgetting
//
// Freeing a communicator is a closing agreement in the background. When it has
// decided here, all live members have proposed it, so none waits in a call on the
// communicator, and everything about it is dropped. Who asks later is answered
// "closed". Finalize is the closing agreement of the world.
//
// # What is not promised
//
// Nothing here makes a process that never calls Free or Finalize do so: its
// peers' closing agreements stay open in the background. A communicator that a
// revocation of its parent tore at birth is revoked by the members that have it
// as soon as they learn of it, which may be after they have used it.
package control
