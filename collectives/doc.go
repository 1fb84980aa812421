// Package collectives provides the operations that all members of a communicator call
// together: barriers, broadcasts, reductions, gathers.
//
//	norm := []float64{local}
//	err := collectives.Allreduce(ctx, w, norm, norm, collectives.Max)
//
// Every member makes the same calls on a communicator in the same order, with the same root,
// lengths, operation and options. Arguments come in the order context, communicator, root,
// destination, source, operation, options: the written slice comes before the read slice, as with
// copy, and not after as in MPI. Allreduce(ctx, w, local, global, op) compiles, and overwrites
// local with the sum of the zeros in global. Destination and source may be the same slice, as
// above, which rules out that confusion; else they must not overlap. Parts of different lengths are
// described by Blocks, which come behind their slice.
//
// The collectives of slices on a communicator have a nonblocking form, too. It returns a request:
//
//	r := collectives.Iallreduce(w, norm, norm, collectives.Max)
//	... compute ...
//	_, err := r.Wait(ctx)
//
// The Value, One and Loc forms and the collectives of intercommunicators have none.
//
// Several nonblocking collectives may be open at once, and a program may wait for them in any
// order. All members start them in one order, together with the blocking ones. Until a collective
// is over, the program must not use the memory of its destination and source. It may use the slices
// of Blocks.
//
// Elements are those of comm.Elem: numbers, bools, and records of them. No algorithm divides a
// record. Built-in operations take numbers; CustomOf makes one of records.
//
// # Results
//
// Reductions by an operation that does not commute combine in the order of the ranks, lower ranks
// on the left. Others may combine in another order, which depends on the number of members, the
// length, and the algorithm. Between nodes the order also depends on the nodes of the members and
// on the root. For one algorithm and placement the order is fixed, so a result has the same bits at
// every member and in every run. Reproducible makes the order depend on the number of members
// alone; otherwise a floating-point sum may differ in its last bits from that of a longer vector.
// Max and Min never differ.
//
// # Algorithms
//
// A table selects the algorithm of a collective by the number of ranks and bytes: table.json.
// Between processes of one node, blocking collectives with parts of one length use their shared
// memory ("memory"). Larger blocks are copied directly from one member's memory to the other's if
// the kernel permits that. Messages carry parts of different lengths, values, neighbours, Loc, and
// reductions by a program's own operation. Messages also carry all nonblocking collectives, all
// collectives of a communicator that was made when a member had no block of memory left (each
// process has 63), and all collectives with --detector ring.
//
// If members are on several nodes, Barrier, Bcast, Reduce, Allreduce, Gather, Scatter and Allgather
// use two levels ("two-level"): inside of each node with its leader, which is its lowest rank or
// the root, and among the leaders, so that few messages travel between nodes. Reductions use two
// levels only for operations that commute, Bcast and Allreduce only for at most 64 KiB, and
// Allgather only for blocks of at most 4 KiB. These bounds have not been measured yet. Parts of
// different lengths (Gatherv and the like) and the other collectives ignore nodes. A job on one
// machine is one node, unless goulfm run --host N starts several there, or a test simulates several
// (commtest.Nodes).
//
// These settings override the table, and each overrides those that follow: the option Algorithm of
// one call; GOULFM_COLL in the environment, for example
// GOULFM_COLL="allgather=ring,bcast=binomial:65536"; GOULFM_COLL_TABLE, the name of a file in the
// format of table.json. The option Reproducible of one call, or GOULFM_REPRODUCIBLE=1 for all
// calls, restricts reductions to algorithms with a fixed order. All members must have the same
// settings. go run ./bench/tune measures and writes such a table.
//
// # When a process dies
//
// A collective with a dead member may succeed at some members and return an error that Is
// comm.ErrProcFailed at others (R54). Every call returns: as soon as a death is known, every wait
// inside of a collective ends, even a wait for a live member, which may itself be waiting for the
// dead. A later collective on the communicator fails at entry at every member that knows of the
// death, even after an acknowledgement (R23, R55). A stretch of collectives therefore ends in an
// AllOK, which has one answer for all members. They continue with the communicator that Shrink
// returns; nothing of the old communicator appears there (R44). The content of dst after an error
// is undefined.
//
// When a context ends inside of a blocking collective, or is over at the call, the others would
// wait for this member for ever. The communicator is therefore revoked, and they get
// comm.ErrRevoked. When the context of a wait for a request ends, only that wait is abandoned.
//
// # When a call is wrong
//
// A wrong argument is an error at the member that passes it: ErrRoot, ErrLength, ErrBuffer,
// ErrType, ErrUnsupported; the first wait returns the error of a nonblocking call. The call counts
// as a call of the collective, and the others are notified: members that wait for this member get
// ErrPeerArgument with its rank. If lengths, element types or operations differ, some member
// notices and gets ErrMismatch, and so do the members that wait for that member. In all these cases
// no member stays waiting, some members may have succeeded, and the communicator is still usable.
//
// Every message identifies its call. A member that gets a message of another collective, another
// root or a later call returns ErrMismatch naming both calls. No member can then determine which
// member waits for which, and the communicator is revoked so that none waits for ever.
//
// # What is not promised
//
// If one member calls a collective and another its nonblocking form, the calls need not match:
// nonblocking calls do not take part in the checks that blocking calls make through shared memory.
// A request without a wait detects a mismatch only by arriving messages.
//
// By messages, members that call different collectives may all wait for each other without a
// message under way that could reveal the mismatch: for example a barrier at rank 0, which waits
// for rank 1, and a broadcast at rank 1, which waits for rank 0. In shared memory a waiting member
// checks the calls of the others, but two members that both only send, such as two roots, detect
// nothing. The same holds for members with different lengths on two sides of a bound of the table:
// their messages name their algorithms, but need not meet. The collective waits for a member that
// does not call at all. goulfm run --timeout shows which ranks wait for which.
//
// Goroutines of a rank that call collectives on one communicator at the same time take turns in the
// order of their calls. This is correct if all of them make the same call. If their calls differ,
// their order may differ between ranks, and the ranks then call different collectives. Dup gives
// each goroutine a communicator of its own.
package collectives
