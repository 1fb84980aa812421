// Package onenode is the agreement among the processes of one node: they decide by reading memory
// that they share, and send nothing.
//
// The package gives the promises of package era, combines values of type era.Value, and its Series
// can replace an era.Series. Rules are cited by number: A1-A24 and R1-R68 are explained in
// docs/SEMANTICS.md.
//
// Like package era, this package is here to be read, not to be imported.
//
// # Precondition
//
// Deaths are exact: a process that is declared dead has really stopped, and all its stores are
// visible before any member learns of its death. In the same sense, a process that is reported as
// left never stores anything again. A detector that may be wrong and fences (A24) requires
// era.Series: here a process that is declared dead and still runs could contribute after others
// have skipped it.
//
// # The algorithm
//
// A member enters agreement k by publishing its contribution, a line, in slot k mod Slots of its
// own memory. A member contributes once, and no process changes a line. The agreement can be
// decided when every member has a line of k, or is dead or left here and has none. Members decide k
// in the order 1, 2, 3, ...:
//
//   - (a) All n lines are there. The decision is all of them merged. The decision is a function of
//     the lines, so all readers obtain the same one without communication.
//   - (b) Some member has no line. The existing lines are merged, and the dead members without a
//     line are added to the dead. The result is stored in this member's value slot, then the
//     decision word of the slot is swapped to name this member. One swap succeeds; a member that
//     loses adopts the winner's value, and so does a member that has not learnt yet of a stopped
//     one. Two values in (b) may differ: if a process left and then died, one member may know of
//     the departure only.
//
// # Why two members never decide differently
//
//   - I1: a line is read after the death of its owner was learnt (the order of scan). So a member
//     without a line stays without one for ever: that member had stopped before its death was
//     learnt. Then no member ever sees all n lines: (a) and (b) exclude each other for one
//     agreement.
//   - I2: in (a) all decide the same function of the same lines.
//   - I3: in (b) all decide the value that the one successful swap of k names.
//
// A living member is never skipped (participation). A live member can decide by itself once the
// others have contributed or are known to have stopped, so no death leaves the others waiting
// (termination). Lines, values and words outlive their writers, so a decision outlives all members
// that made it: unlike in era, the survivors never decide otherwise than the dead did (A17).
//
// # Why a slot can be used again
//
// No member still reads a line, value or word of k when that of k+Slots is written. A member enters
// j only after deciding all agreements up to j-W, W being the window. So a member that enters k+2W
// has decided k+W. That took a line of k+W of every living member, and each of these had decided k
// before entering k+W. Hence Slots = 2W; with fewer, a slow member would find lines overwritten:
//
//	W = 1, one slot. 0 and 1 publish 1; 1 decides 1 and publishes 2 over its line;
//	0 looks, and waits for 1's line of 1 for ever.
//
// The decision word holds the low bits of k. They distinguish k from the former contents: after the
// first case (b) every agreement is case (b), because a member without a line of k has none of k+1.
// So the word of the slot held nothing, or k-Slots.
//
// # Forgetting
//
// Nothing is kept, so there is nothing to collect (rule 8), and Value.Returned is 0. Another
// communicator may reuse the memory while a slow member still reads there: the requirements of
// Memory keep the two apart.
//
// # What is not promised
//
//   - Anything if a death was wrong: see above.
//   - That a death during the agreement is, or is not, part of the result (R34, A18). The result is
//     the same at all members in any case.
//   - Progress without a member that never proposes and never stops (A22). WaitsFor names that
//     member.
//   - Waking: the owner of a Series has to report each change of the memory (Look).
//
// To read next: testdata/failure_free.txt, decide.go, testdata/left_or_dead.txt.
package onenode
