// Package collectives has the operations that all members of a communicator call
// together: barriers, broadcasts, reductions, gathers.
//
//	norm := []float64{local}
//	err := collectives.Allreduce(ctx, w, norm, norm, collectives.Max)
//
// Every member makes the same calls on a communicator in the same order, with
// the same root, lengths and operation. Arguments come in the order context,
// communicator, root, destination, source, operation. Destination and source may
// be the same slice; else they must not overlap.
//
// # Results
//
// Reductions combine in the order of the ranks, lower ranks on the left: from left to
// right in shared memory, with the brackets of a tree by messages. So an operation
// need not be commutative, and a result has the same bits at every member and in
// every run with as many members that go the same way; else a floating-point sum may
// differ in its last bits, Max and Min never do.
//
// # Which way
//
// Barrier, Bcast, Reduce and Allreduce of processes of one node go through their
// shared memory; the others, and reductions by a program's own operation, by
// messages. By messages go all collectives of a communicator of which a member had no
// block of memory left when it was made (each process has 63), and all with --detector
// ring.
//
// # When a process dies
//
// A collective in which a member is dead may succeed at some members and return
// an error that Is ulfm.ErrProcFailed at others (R54). Every one returns: as soon
// as a death is known, whatever waits inside of a collective ends, even a wait for
// a live member, since that one may be waiting for the dead. A later collective
// on the communicator fails at entry wherever the death is known, also when it is
// acknowledged (R23, R55). Revoke the communicator so that everybody notices, and
// go on with the one that Shrink returns; nothing of the old one appears there
// (R44). What dst holds after an error is not defined.
//
// When a context ends inside of a collective, or is over when it is called, the
// others would wait for this member for ever. So the communicator is revoked, and
// they get ulfm.ErrRevoked.
//
// # When a call is wrong
//
// A wrong argument is an error at the member that has it: ErrRoot, ErrLength,
// ErrBuffer, ErrType, ErrUnsupported. It counts as a call of the collective, and
// the others are told: those who wait for this member get ErrPeerArgument with
// its rank. If lengths, element types or operations differ, somebody notices and
// gets ErrMismatch, and so does whoever waits for that one. In all these cases
// nobody is left waiting, some members may have succeeded, and the communicator
// works on.
//
// Every message says which call it belongs to. A member that gets one of another
// collective, another root or a later call returns ErrMismatch naming both calls;
// then nobody can say who waits for whom, and the communicator is revoked so that
// nobody waits for ever.
//
// # What is not promised
//
// By messages, members that call different collectives may all wait for each other
// without a message under way that anybody could notice: a barrier at rank 0, which
// waits for rank 1, and a broadcast at rank 1, which waits for rank 0. In shared memory
// who waits looks what the others have called, but two that both only send, as two
// roots, find nothing. A member that does not call at all is waited for. goulfm run --timeout shows who waits for
// whom. Two goroutines of a process must not be in collectives of one
// communicator at the same time: Dup gives each its own.
package collectives
