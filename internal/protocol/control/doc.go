// Package control composes one process's control rules: its failure detector (fd), and for each of
// its communicators the failed members, the revocation and the agreements
// (internal/protocol/commstate, era, internal/protocol/flood). The engine and the simulator are
// hosts of a Control: they move frames, supply the time, and carry out actions.
//
// # Problem
//
// Each rule is correct by itself. A process is correct only if its rules act in the right order.
// Control enforces this order:
//
//   - A declared death first closes the process: no later frame of the process counts (A6). The
//     death is then reported, and reaches every communicator with this member.
//   - A decided agreement first declares the deaths that it names, then gives its result (R31). A
//     process that finds itself among the named dead is fenced and returns no more results (A24,
//     B20).
//   - A frame for a communicator that does not exist here yet is held, not dropped: agreements, and
//     revocations above all (A3, B4).
//
// # Context indices
//
// Each process draws 32-bit indices from a counter of its own, and announces each index in its
// contribution to the call that makes the communicator. Frames carry the receiver's index, so the
// receiver finds the communicator with an array index and cannot confuse two communicators. An
// index is pending, live, then freed, and never used again.
//
// On one node an index also selects the block of the process's shared memory that its communicator
// has (Config.Blocks). Blocks are used again, indices are not. So everything in a block is tagged
// with the index for which it was written, and a block is prepared before any other process learns
// of the next index. The block of an index that this process gave up while others may have taken it
// up is not used again: the others may continue without this process, and a word in the block may
// hold their decision.
//
// # Gathering
//
// A creation from a group is made by some members of a communicator. They have no agreement of
// their own. So they make a communicator without an agreement, hidden from the program, and agree
// there: see gathering. The index of a hidden communicator is from a range of its own and is not
// reported to the host.
//
// # Uniform mode
//
// A communicator may be set to be revoked by the first failure of a member (C9). Each process
// revokes by itself, in the step in which it declares the death.
//
// # Forgetting
//
// Freeing a communicator is a closing agreement in the background. When this agreement has decided
// here, all live members have proposed to close. So none of them waits in a call on the
// communicator, and this process drops all its state. The answer to a later frame is "closed".
// Finalize is the closing agreement of the world.
//
// # What is not promised
//
// If a process never calls Free or Finalize, its peers' closing agreements stay open in the
// background. If a revocation of the parent overtakes a creation, only some members may have the
// new communicator. These members revoke the communicator as soon as they learn of this, perhaps
// after they have used it.
package control
