// Package nodecoll is the collectives among the members of a communicator that share a
// node, at the speed of shared memory: Barrier, Bcast, Reduce, Allreduce, Gather,
// Scatter, Allgather, Alltoall, ReduceScatter, Scan, Exscan.
//
// # Shape
//
// A Group is a state machine, like the rules: an operation is started, then the
// caller calls Advance until it is complete, and decides meanwhile how to wait
// (spin, yield, sleep) and when to give up. It has no goroutine, lock or clock,
// never blocks, and allocates nothing after New and the first use of a member's
// data. A sleeper misses nothing if it raises its doorbell, calls Advance once
// more, and is rung by the Audience of whoever says Moved.
//
// An operation begins in vectors.go or blocks.go, which choose its algorithm by its size and
// the regime of the group (regime.go). It is entered as soon as the memory may be written that
// it takes; then the algorithm has it until it is complete:
//
//	idle  -- Bcast, ... -->  entering  -- arrival line published -->  one algorithm  -->  idle
//
// Each algorithm is a type with its own state, kept by value in the Group, which finds it by the
// phase of the operation (interface algorithm). The parts that algorithms share are in the Group:
// the open operation, the sequence of operations, lines and memory, and the word that the member
// waits for.
//
// # Algorithms
//
// "Mutual" is a group in which every rank has a core (Config.Mutual); "central" is one in which
// ranks share cores, or of more than 8 members. n is the number of members.
//
//	type        file          operations and sizes of their payloads
//	quick       quick.go      what fits a line and needs no wait: Bcast, and of two members Reduce,
//	                          Scan, Gather, Scatter. It completes in the call
//	pair        pair.go       two members, mutual, up to 4 KiB: Barrier, Allreduce, Allgather,
//	                          Alltoall, ReduceScatter
//	collector   collect.go    not central: Barrier; Allreduce up to 16 KiB/(n-1), of two 4 KiB; blocks
//	                          up to 16 KiB (64 if there is no Pull), in ReduceScatter up to 64. Root
//	                          of a Gather, and of a Reduce of as much as Allreduce (central: 64 KiB)
//	centre      central.go    central: Barrier; Allreduce up to 64 KiB/n; blocks up to 64 KiB (16 if
//	                          mutual). It is also where reduction and pull meet
//	taker       take.go       the blocks of an operation that collector or centre has begun
//	reader      reader.go     not root: Bcast up to 64 KiB (mutual: 4); Scatter up to the size of
//	                          blocks (central: 440 KiB, see isWide)
//	chain       chain.go      Scan and Exscan up to 64 KiB (mutual: 4)
//	pull        pull.go       longer blocks: Scatter, Allgather, Alltoall
//	broadcast   broadcast.go  longer Bcast
//	pipeline    pipeline.go   longer Scan and Exscan; two members, mutual: longer Reduce
//	swap        swap.go       two members, mutual: Allreduce up to 64 KiB
//	reduction   reduction.go  longer Reduce and Allreduce
//
// A root that only sends, and members that only send to a root, need no algorithm: their arrival
// line is all.
//
// Collector: everybody waits for all lines and reduces all payloads itself, in rank order, so
// all get the same bits. Centre: all join a count, the last one does the work for all and
// stores the release word, so a rank that has to share its core runs once per operation. A
// broadcast's or scatter's readers wait for root's line alone, and root of a reduction or
// gather for the others'; nobody waits for those. In a chain each member waits for the one
// before. These run ahead: a member makes as many operations in one time slice as there are slots,
// and the costs of a time slice are divided by them.
//
// The larger payloads of broadcast, pipeline, swap and reduction go by steps, in chunks that
// stand in rings (ring.go, steps.go). In a pull the kernel copies from one member's memory to
// the other's.
//
// # Memory
//
// Lines for all members together (layout.go), and 2.25 MiB of data of each. One member
// writes a line, its owner; the exceptions are the count and the release word, which
// change by one atomic instruction each. A line's sequence word is stored last, base +
// operation number, and larger than whatever stood there.
//
//	line      of      writers   what
//	intro     all     member 0  the two words below are this group's
//	count     all     all       arrivals at central synchronizations, counted for ever
//	release   all     the last  the last complete central synchronization, and who made it complete
//	steps     each    owner     steps of large operations, counted for ever
//	arrival   each    owner     128: of operation k the one with number k mod 128; sequence, call, 112 bytes of payload (48 above 8 members)
//	result    each    owner     the same of what a member has for others once it has got what it needs
//
//	data      slots for payloads: 128 up to 1 KiB, 64 up to 4 KiB, 8 up to 64 KiB; for operations
//	          in which all wait for all 4 up to 1 KiB, 4 up to 4 KiB, 4 up to 64 KiB; then the area:
//	          the ring of a broadcast, pipeline or swap, the buffers of a reduction, or payloads
//	          of a scatter that are larger
//
// The lines of a slot lie side by side: an operation touches few pages, and a member that
// looks at all lines reads them one behind the other.
//
// # Why memory can be used again
//
// A member that enters operation k proves that it has left k-1, and its arrival line
// says which operation it has entered. That is all that is needed:
//
//   - An arrival line, a result and a payload slot are read in operation k by those
//     who are in k. Before a member takes them for k+distance it knows that all have left
//     k (reuse.go), or in a row of scans that the next member has; distance is how many slots
//     there are of the kind. A member that completes an operation in which all wait for all
//     knows that of the one before.
//   - In central operations the last one writes the result of an allreduce over its own
//     payload: payloads are read by the last one alone, and by it before. Where each
//     member takes from all payloads (take.go) nobody writes there.
//   - The release word and the count for synchronization c+1 are written when
//     all have joined c+1, so when all have seen the release of c.
//   - A chunk of a ring is written again when the steps of all readers say that
//     it was read. The first chunk of an operation is written when all have left
//     the last operation in which this member was root, or passed on, or had buffers of
//     a reduction, in the same area.
//   - In-buffers of a reduction are read up to the step before its last meeting,
//     so nobody reads them when anybody leaves. The last results may be read
//     longer. They are written again in the second step of a later operation,
//     after the meeting that shows that all have entered it; until then nothing
//     that depends on the operation may lie there. Where each member has a core the
//     chunks of one reduction after the other go round in the area, which has room for
//     more than the two that are in use (reduction.go).
//   - A source from which others copy is its caller's again when all have said that
//     they need it no more.
//
// None of these waits makes a circle: an arrival line is stored before anything
// that waits for an equal operation number, and after what waits for a smaller one.
// What a chain or a pipeline waits for comes from lower members.
//
// # Failure
//
// When a member dies, or the communicator is revoked, the caller stops calling
// Advance and drops the Group for ever. Whatever prefix of a dead member's stores
// is visible, Advance never says done with wrong data, never panics, never reads
// out of bounds, and never writes outside dst or buf (whose contents are
// undefined when an operation is given up). Completion needs, from each member
// whose data it depends on, a word that is stored after that data. Nobody waits
// for a state that only another member's second store brings, except the members
// of a central synchronization for the release by the last one: if that dies
// between, they wait until the caller gives up. A member that copied from one that died or
// gave up may have copied anything, and does not complete: the other never says that
// it needs no source any more.
//
// # Calls that differ
//
// Each line carries the call (what). A member that waits for another compares it, and ends
// in a mismatch rather than take bytes that mean something else. Abandon ends such an
// operation, and the group works on:
//
//   - An operation in which all wait for all is broken at all members or at none:
//     a member that would complete it compares all lines first.
//   - In the others nobody waits for those who abandon it, but for readers of a large
//     broadcast; root compares their lines.
//   - A member that has abandoned an operation by steps counts the next step, and writes
//     in its area again, when all have left that operation: others may still read there, and would
//     take later steps for those that are missing.
//   - Counts are tagged, steps are counted from where each arrival line says, rings begin
//     where each arrival line says, and slots are taken again by the operation that a member
//     has entered: none of it is left from an operation that did not complete.
//
// Two members that both only send, as two roots of broadcasts, do not notice.
//
// # Not promised
//
//   - A peer is a copy of this program: it may die at any instruction, but does
//     not write at random.
//   - All members have the same Config (but Me). A change of regime needs a new
//     group.
//   - Members of a rooted operation may complete it at different times, or before
//     a mismatch or a death is noticed.
//
// # Reading order
//
// config.go, layout.go and memory.go: what the members share. group.go and operation.go: the
// state machine and what all algorithms have. arrival.go, reuse.go and announce.go: how an
// operation is entered. regime.go, vectors.go and blocks.go: which algorithm it gets. Then the
// algorithms, the simple ones first: reader.go, collect.go, take.go, central.go, chain.go;
// steps.go and ring.go before broadcast.go, pipeline.go, swap.go and reduction.go; pull.go.
// quick.go and pair.go are shortcuts of the others. diagnosis.go is for people.
package nodecoll
