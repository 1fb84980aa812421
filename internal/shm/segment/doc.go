// Package segment is the layout of the memory that the ranks of one node share, and the only
// package that casts it. Segment 0 (Node) holds what all need: identity, the epoch, the list of
// departures, how many processes have been started, a word at which many are woken at once, and per
// process a tombstone, a state, a doorbell and beats. Each process has an Arena of its own, all in
// one file; only its owner allocates there, and peers find things through the directory in it.
//
// # One writer per line
//
// A line (64 bytes) that carries data has one writer, so a death at any
// instruction harms nobody: there is no lock that the dead could hold. The words
// with several writers are the doorbell, the any-source bits, the epoch, the
// tombstone (its owner's kernel and nobody else after Init), the claims of a Transfer,
// and in the block of a communicator the words that decide agreements, those of a
// result, and its revocation, into which all write the same. Each changes by one atomic
// instruction and is right after any prefix of what a dead writer meant to do. Nobody
// waits for a state that only a peer's second store would bring.
//
// # Stores
//
// Every store to shared memory goes through the functions of store.go or the methods
// of a Cell, each of which is a failpoint.
//
// # Two homes
//
// The same layout lives in sealed sparse memfds mapped by many processes
// (Create, Attach) and in plain Go memory for goroutine ranks and tests (Heap),
// where the race detector sees every access.
package segment
