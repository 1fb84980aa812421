// Package segment defines the layout of the memory that the ranks of one node share, and is the
// only package that casts this memory. Segment 0 (Node) holds the data that all processes need:
// identity, the epoch, the list of departures, how many slots have been used, and a word to wake
// many sleepers at once. For each process it holds a tombstone, a state, a doorbell and beats. Each
// process has an Arena of its own, all in one file; only its owner allocates there, and peers find
// objects through the directory in the arena.
//
// # One writer per line
//
// A line (64 bytes) that carries data has one writer, so a death at any instruction harms nobody:
// there is no lock that the dead could hold. These words have several writers:
//
//   - the doorbell, the any-source bits, the epoch, and the claims of a Transfer
//   - the tombstone: its owner, and after Init only the kernel
//   - the mourning word of a slot and the word for served windows, in which all store the same
//     value
//   - in the block of a communicator the words that decide agreements, the words of a result, and
//     the revocation, in which all store the same value
//
// Each changes by one atomic instruction, and is valid after any prefix of the stores that a dead
// writer intended. Nobody waits for a state that only a peer's second store would bring.
//
// # Stores
//
// Every store to segment 0 or to an arena goes through the functions of store.go or the methods of
// a Cell or a Copier, each of which is a failpoint. The exception is FormatNode, which writes the
// header before another process maps the memory.
//
// # Two homes
//
// The same layout lives in sealed sparse memfds mapped by many processes (Create, Attach) and in
// plain Go memory for goroutine ranks and tests (Heap), where the race detector sees every access.
package segment
