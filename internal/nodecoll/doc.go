// Package nodecoll is Barrier, Bcast, Reduce and Allreduce among the members of
// a communicator that share a node, at the speed of shared memory.
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
// # Memory
//
// Of each member: 2 KiB of lines and 1 MiB of data. One member writes a line,
// its owner; the exceptions are the count and the release word of member 0,
// which change by one atomic instruction each. A line's sequence word is stored
// last, base + operation number, and larger than whatever stood there.
//
//	line     of      writers   what
//	0..7     each    owner     arrival at operation k, slot k mod 8: sequence, call, digest of earlier calls, 40 bytes of payload
//	steps    each    owner     steps of large operations, counted for ever
//	intro    0       member 0  the two words below are this group's
//	count    0       all       arrivals at central synchronizations, counted for ever
//	release  0       the last  the last complete central synchronization, and who made it complete
//
//	data     0..128 KiB        payloads up to 16 KiB, slot k mod 8
//	         128 KiB..1 MiB    the area: the ring of a broadcast, or the buffers of a reduction
//
// # Algorithms
//
// Mutual, for up to 8 members with a core each: everybody waits for all lines
// and reduces all payloads itself, in rank order, so all get the same bits.
// Central, for more: all join the count, the last one does the work for all and
// stores the release word (see central.go). So a rank that has to share its core
// runs once per operation. A broadcast's readers wait for root's line alone, and
// root of a reduction for the others'; nobody waits for those. Larger payloads go
// by steps: a broadcast through a ring (ring.go), a reduction by slices with one
// synchronization per chunk (reduction.go).
//
// # Why memory can be used again
//
// Entering operation k proves having left k-1, and each member's arrival line
// says which operation it has entered. That is all that is needed:
//
//   - An arrival slot, and the data slot with the same number, are read in
//     operation k by those who are in k. Before it takes them for k+8 a member
//     knows that all have left k. Whoever completes an operation in which all wait
//     for all knows that of the one before; so it looks at lines only after 7
//     others in a row (clear.go).
//   - In central operations the last one writes the result over its own payload:
//     payloads are read by the last one alone, and by it before.
//   - The release word and the count for synchronization c+1 are written when
//     all have joined c+1, so when all have seen the release of c.
//   - A chunk of a ring is written again when the steps of all readers say that
//     it was read. The first chunk of an operation is written when all have left
//     the last operation in which this member was root, or had buffers of a
//     reduction, in the same area.
//   - In-buffers of a reduction are read up to the step before its last meeting,
//     so nobody reads them when anybody leaves. The last results may be read
//     longer. They are written again in the second step of a later operation,
//     after the meeting that shows that all have entered it; until then nothing
//     that depends on the operation may lie there.
//
// None of these waits makes a circle: an arrival line is stored before anything
// that waits for an equal operation number, and after what waits for a smaller one.
//
// # Failure
//
// When somebody dies, or the communicator is revoked, the caller stops calling
// Advance and drops the Group for ever. Whatever prefix of a dead member's stores
// is visible, Advance never says done with wrong data, never panics, never reads
// out of bounds, and never writes outside dst or buf (whose contents are
// undefined when an operation is given up). Completion needs, from each member
// whose data it depends on, a word that is stored after that data. Nobody waits
// for a state that only somebody else's second store brings, except the members
// of a central synchronization for the release by the last one: if that dies
// between, they wait until the caller gives up.
//
// # Calls that differ
//
// Each line carries the call (what). Whoever waits for a member compares it, and ends
// in a mismatch rather than take bytes that mean something else. Abandon ends such an
// operation, and the group works on:
//
//   - An operation in which all wait for all is broken at all members or at none:
//     whoever would complete it compares all lines first.
//   - In the others nobody waits for those who abandon it, but for readers of a large
//     broadcast; root compares their lines.
//   - Counts are tagged, steps are counted from where each arrival line says, and
//     slots are taken again by who has entered what: none of it is left from an
//     operation that did not complete.
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
package nodecoll
