// Package nodecoll implements the collectives among the members of a communicator that share a
// node, at the speed of shared memory: Barrier, Bcast, Reduce, Allreduce, Gather, Scatter,
// Allgather, Alltoall, ReduceScatter, Scan, Exscan.
//
// # Shape
//
// A Group is a state machine. The caller starts an operation and calls Advance until the operation
// is complete. Meanwhile the caller decides how to wait (spin, yield, sleep) and when to give up. A
// Group has no goroutine, lock or clock, never blocks, and allocates nothing after New and the
// first use of a member's data. A sleeper misses nothing if it raises its doorbell and calls
// Advance once more before it sleeps, and if each member that reports Moved wakes its Audience.
//
// An operation begins in vectors.go or blocks.go, which choose its algorithm by its size and the
// regime of the group (regime.go). The member enters the operation as soon as the memory that the
// operation uses may be written. Then the algorithm executes the operation until it is complete:
//
//	idle  -- Bcast, ... -->  entering  -- arrival line published -->  one algorithm  -->  idle
//
// Each algorithm is a type with its own state, kept by value in the Group. The Group finds the
// algorithm by the phase of the operation (interface algorithm). The Group also holds the parts
// that algorithms share: the open operation, the sequence of operations, lines and memory, and the
// word that the member waits for.
//
// # Algorithms
//
// "Mutual" is a group in which every rank has a core (Config.Mutual); "central" is a group in which
// ranks share cores, or with more than 8 members. n is the number of members.
//
//	type        file          operations and sizes of their payloads
//	quick       quick.go      payloads that fit a line, without a wait: Bcast, and of two members
//	                          Reduce, Scan, Gather, Scatter. Completes in the call
//	pair        pair.go       two members, mutual, up to 4 KiB: Barrier, Allreduce, Allgather,
//	                          Alltoall, ReduceScatter
//	collector   collect.go    not central: Barrier; Allreduce up to 16 KiB/(n-1), of two 4 KiB;
//	                          blocks up to 16 KiB (64 if there is no Pull), in ReduceScatter up to
//	                          64. Root of a Gather, and of a Reduce up to the size for Allreduce
//	                          (central: 64 KiB)
//	centre      central.go    central: Barrier; Allreduce up to 64 KiB/n; blocks up to 64 KiB (16 if
//	                          mutual). Reduction and pull meet here, too
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
// A root that only sends, and members that only send to a root, need no algorithm: they only
// publish their arrival line.
//
// Collector: each member waits for all lines and reduces all payloads itself, in rank order, so all
// members get the same bits. Centre: all members join a count. The last member does the work for
// all and stores the release word, so a rank that has to share its core runs once per operation.
// The readers of a broadcast or scatter wait for root's line alone, and root of a reduction or
// gather waits for the lines of the others; no member waits for such a reader or such a root. In a
// chain each member waits for the member before. In these operations a member can run ahead: it
// makes as many operations in one time slice as there are slots, and the cost of the time slice is
// divided by their number.
//
// The larger payloads of broadcast, pipeline, swap and reduction are transferred by steps, in
// chunks that are stored in rings (ring.go, steps.go). In a pull the kernel copies from one
// member's memory to the other's.
//
// # Memory
//
// The memory consists of lines for all members together (layout.go), and of 3.2 MiB of data of each
// member. Only its owner writes a line; the exceptions are the count and the release word, which
// change by one atomic instruction each. The sequence word of a line is stored last. It is base +
// operation number, and larger than each earlier value of the word.
//
//	line      of      writers   content
//	intro     all     member 0  the two words below are this group's
//	count     all     all       the latest central synchronization, and its number of joined members
//	release   all     the last  the last complete central synchronization, and its last member
//	steps     each    owner     steps of large operations, counted for ever
//	arrival   each    owner     128, operation k uses number k mod 128: sequence, call, 112 bytes
//	                            of payload (48 above 8 members)
//	result    each    owner     the same, for a member's result after its input has arrived
//
//	data      slots for payloads: 128 up to 1 KiB, 64 up to 4 KiB, 8 up to 64 KiB; for operations
//	          in which all wait for all 4 up to 1 KiB, 4 up to 4 KiB, 4 up to 64 KiB; then the area:
//	          the ring of a broadcast, pipeline or swap, the buffers of a reduction, or payloads
//	          of a scatter that are larger
//
// The lines of a slot lie side by side: an operation touches few pages, and a member that polls all
// lines reads them in sequence.
//
// # Why memory can be used again
//
// A member that enters operation k proves that it has left k-1, and its arrival line shows the
// operation that it has entered. This is the only proof needed:
//
//   - Members that are in operation k read the arrival lines, results and payload slots of k.
//     Before a member writes its own for k+distance, it knows that all have left k (reuse.go), or
//     in a row of scans that the next member has; distance is the number of slots of the kind. A
//     member that completes an operation in which all wait for all knows that all have left the
//     operation before.
//   - In central operations the last member writes the result of an allreduce over its own payload:
//     only the last member reads payloads, and it has read them before. If each member takes from
//     all payloads (take.go), no member writes there.
//   - The release word and the count for synchronization c+1 are written when
//     all have joined c+1, so when all have seen the release of c.
//   - A chunk of a ring is written again when the steps of all readers show that they have read the
//     chunk. The first chunk of an operation is written when all have left the last operation in
//     which this member was root, or passed chunks on, or had buffers of a reduction, in the same
//     area.
//   - In-buffers of a reduction are read up to the step before its last meeting, so no member reads
//     them when the first member leaves. The last results may be read longer. They are written
//     again in the second step of a later operation, after the meeting that shows that all have
//     entered this operation. Until then the place of the buffers must not depend on the operation.
//     If each member has a core, the chunks of successive reductions use the area as a ring, which
//     has room for more than the two chunks in use (reduction.go).
//   - The caller gets back a source from which others copy when all members have published that
//     they no longer need a source.
//
// These waits cannot form a cycle: a member stores its arrival line before it waits for an equal
// operation number, and after it has waited for a smaller number. A chain or a pipeline waits only
// for lower members.
//
// # Failure
//
// When a member dies, or the communicator is revoked, the caller stops calling Advance and drops
// the Group for ever. For every visible prefix of a dead member's stores, Advance never reports
// done with wrong data, never panics, never reads out of bounds, and never writes outside dst or
// buf. (Their contents are undefined when an operation is given up.) Completion needs a word from
// each member that contributes data, and the member stores this word after the data. No member
// waits for a state that needs a second store of another member, with one exception: the members of
// a central synchronization wait for the release by the last member. If the last member dies
// between the two stores, the others wait until the caller gives up. A member that copied from a
// member that died or gave up may have copied wrong data, but does not complete: the source's owner
// never publishes that it no longer needs a source.
//
// # Calls that differ
//
// Each line carries the call (what). A member that waits for another member compares the calls, and
// ends in a mismatch instead of accepting bytes of another call. Abandon ends such an operation,
// and the group continues:
//
//   - An operation in which all wait for all is broken at all members or at none:
//     a member that would complete it compares all lines first.
//   - In other operations no member waits for members that abandon the operation, except root of a
//     large broadcast for its readers; root compares their lines.
//   - A member that has abandoned an operation by steps counts the next step, and writes in its
//     area again, only when all have left this operation: others may still read there, and would
//     mistake later steps for the missing steps.
//   - Counts are tagged, each arrival line holds the origin of its owner's steps and ring, and
//     slots are reused according to the operations that members have entered. So no state is left
//     from an operation that did not complete.
//
// Two members that both only send, such as two roots of broadcasts, do not detect a mismatch.
//
// # Not promised
//
//   - A peer is a copy of this program: it may die at any instruction, but does
//     not write at random.
//   - All members have the same Config except for Me. A change of regime needs a new group.
//   - Members of a rooted operation may complete it at different times, or before
//     a mismatch or a death is noticed.
//
// # Reading order
//
// config.go, layout.go and memory.go: the shared memory. group.go and operation.go: the state
// machine and the common parts of all algorithms. arrival.go, reuse.go and announce.go: the entry
// into an operation. regime.go, vectors.go and blocks.go: the choice of the algorithm. Then the
// algorithms, the simple ones first: reader.go, collect.go, take.go, central.go, chain.go; steps.go
// and ring.go before broadcast.go, pipeline.go, swap.go and reduction.go; pull.go. quick.go and
// pair.go are shortcuts of the others. diagnosis.go finds mismatches and missing members.
package nodecoll
