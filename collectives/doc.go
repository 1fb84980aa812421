// Package collectives has the operations that all members of a communicator call
// together: barriers, broadcasts, reductions, gathers.
//
//	norm := []float64{local}
//	err := collectives.Allreduce(ctx, w, norm, norm, collectives.Max)
//
// Every member makes the same calls on a communicator in the same order, with
// the same root, lengths and operation. Arguments come in the order context,
// communicator, root, destination, source, operation: what a call writes comes before what
// it reads, as with copy, and not after it as in MPI. Allreduce(ctx, w, local, global, op)
// compiles, and overwrites local with the sum of the zeros in global. Destination and
// source may be the same slice, as above, which leaves nothing to confuse; else they must
// not overlap.
//
// Each has a twin that does not block and returns a request:
//
//	r := collectives.Iallreduce(w, norm, norm, collectives.Max)
//	... compute ...
//	_, err := r.Wait(ctx)
//
// Several may be open at once, and be waited for in any order; all members start them
// in one order, the blocking ones among them. The memory of one that is open belongs to
// it; counts and displacements do not.
//
// Elements are those of comm.Elem: numbers, bools, and records of them, which no way cuts.
// Built-in operations take numbers; CustomOf makes one of records.
//
// # Results
//
// Reductions by an operation that does not commute combine in the order of the ranks,
// lower ranks on the left. Others may combine in another order, which depends on the
// number of members, the length, the way, and between nodes on where the members are and
// on the root; in one way and placement it is fixed, so a result has the same bits at every
// member and in every run. Reproducible makes the order depend on the number of members alone: else
// a floating-point sum may differ in its last bits from that of a longer vector. Max and
// Min never do.
//
// # Which way
//
// A table says which algorithm does a collective, by the number of ranks and bytes:
// table.json. Of processes of one node, those that block and whose parts are of one
// length go through their shared memory there ("memory"), with larger blocks straight
// from one member's memory to the other's where the kernel lets them. By messages go
// parts of different lengths, values, neighbours, Loc, and reductions by a program's own
// operation; and, whatever they are, all that do not block, all
// collectives of a communicator of which a member had no block of memory left when it
// was made (each process has 63), and all with --detector ring.
//
// Where members are on several nodes Barrier, Bcast, Reduce, Allreduce, Gather, Scatter
// and Allgather go on two levels ("two-level"): inside of each node with its leader,
// which is its lowest rank or the root, and among the leaders, so that few messages go
// from node to node. Reductions do so only by operations that commute; long vectors of
// Bcast and Allreduce and long blocks of Allgather do not, from a length on that nobody
// has measured yet. Parts of different lengths (Gatherv and the like) and the other
// collectives know no nodes. A job of one machine is one node, unless a test simulates
// several (commtest.Nodes).
//
// What goes before the table: With, for calls with a context, or with OptionsOf it where
// they do not block; GOULFM_COLL in the
// environment, with the same text, as GOULFM_COLL="allgather=ring,bcast=binomial:65536";
// GOULFM_COLL_TABLE, the name of a file as table.json; GOULFM_REPRODUCIBLE=1. All members
// must have the same. go run ./bench/tune measures and writes such a table.
//
// # When a process dies
//
// A collective in which a member is dead may succeed at some members and return an error that Is
// comm.ErrProcFailed at others (R54). Every one returns: as soon as a death is known, whatever
// waits inside of a collective ends, even a wait for a live member, since that one may be waiting
// for the dead. A later collective on the communicator fails at entry wherever the death is known,
// also when it is acknowledged (R23, R55). So a stretch of collectives ends in an AllOK, which has
// one answer for all members, and they go on with the communicator that Shrink returns; nothing of
// the old one appears there (R44). What dst holds after an error is not defined.
//
// When a context ends inside of a blocking collective, or is over when it is called,
// the others would wait for this member for ever. So the communicator is revoked, and
// they get comm.ErrRevoked. The end of a wait for a request gives up only the wait.
//
// # When a call is wrong
//
// A wrong argument is an error at the member that has it: ErrRoot, ErrLength, ErrBuffer, ErrType,
// ErrUnsupported; a non-blocking call says so in its first wait. It counts as a call of the
// collective, and the others are told: those who wait for this member get ErrPeerArgument with its
// rank. If lengths, element types or operations differ, somebody notices and gets ErrMismatch, and
// so does whoever waits for that one. In all these cases nobody is left waiting, some members may
// have succeeded, and the communicator works on.
//
// Every message says which call it belongs to. A member that gets one of another
// collective, another root or a later call returns ErrMismatch naming both calls;
// then nobody can say who waits for whom, and the communicator is revoked so that
// nobody waits for ever.
//
// # What is not promised
//
// Members of which one calls a collective and another its twin need not meet: those that
// do not block take no part in what blocking ones tell each other through shared memory.
// A request that nobody waits for finds out only by messages that come.
//
// By messages, members that call different collectives may all wait for each other
// without a message under way that anybody could notice: a barrier at rank 0, which
// waits for rank 1, and a broadcast at rank 1, which waits for rank 0. In shared memory
// who waits looks what the others have called, but two that both only send, as two
// roots, find nothing. So may members whose lengths differ and lie on two sides of a bound
// of the table: their messages say which way they go, but need not meet. A member that does
// not call at all is waited for. goulfm run --timeout shows who waits for whom.
//
// Goroutines of a rank that make collectives on one communicator at the same time take turns
// in the order of their calls. If they make the same call that is all; if they make different
// ones, ranks that come to them in different orders call different collectives. Dup gives each
// goroutine a communicator of its own.
package collectives
