// Package onenode is the agreement among the processes of one node: they decide by
// looking at memory that they share, and send nothing.
//
// Its promises are those of package era, whose Value it combines, and a Series of it
// can stand where an era.Series stands. Rules are cited by number: A1-A24 and
// R1-R68 are explained in docs/SEMANTICS.md.
//
// As package era it is here to be read, not to be imported.
//
// # Precondition
//
// Deaths are exact: a process that is declared dead has really stopped, and every
// store that it made is visible before anybody hears of its death. Who is told to
// have left will, in the same sense, never store anything again. With a detector
// that may be wrong and fences (A24), era.Series is to be used: who is declared dead
// and still runs could contribute after it was skipped.
//
// # The algorithm
//
// A member enters agreement k by publishing its contribution, a line, in slot k mod
// Slots of its own memory. It contributes once, and nobody changes a line. The
// agreement can be decided when every member has a line of k, or is dead or left
// here and has none. Members decide k in the order 1, 2, 3, ...:
//
//   - (a) All n lines are there. The decision is all of them merged. It is a
//     function of the lines, so it is the same at whoever looks, without a word
//     between them.
//   - (b) Some member has no line. What is there is merged, and those without a line
//     that are dead are added to the dead. The result goes into this member's value
//     slot, then the decision word of the slot is swapped to name this member. One
//     swap succeeds; who loses takes the winner's value, and so does who has not heard
//     yet that somebody stopped. Two values in (b) may differ: of a process that left
//     and then died, one has heard only the first.
//
// # Why two members never decide differently
//
//   - I1: a line is read after the death of its owner was learnt (the order of
//     scan). So a member without a line is without it for ever: it had stopped
//     when that was learnt. Then nobody ever sees all n lines: (a) and (b) exclude
//     each other for one agreement.
//   - I2: in (a) all decide the same function of the same lines.
//   - I3: in (b) all decide what the one successful swap of k names.
//
// A living member is never skipped (participation). Whoever lives can decide by
// itself once the others have contributed or are known to have stopped, so no death
// leaves the others waiting (termination). Lines, values and words outlive their
// writers, so a decision outlives everybody who took it: unlike in era, the
// survivors never decide otherwise than the dead did (A17).
//
// # Why a slot can be used again
//
// Nobody still reads a line, value or word of k when that of k+Slots is written. A
// member enters j only when it has decided all up to j-W, W being the window. So
// who enters k+2W has decided k+W. That took a line of k+W of every living
// member, and each of these had decided k before it entered k+W. Hence Slots = 2W;
// with fewer, a member that has not looked for a while would find lines gone:
//
//	W = 1, one slot. 0 and 1 publish 1; 1 decides 1 and publishes 2 over its line;
//	0 looks, and waits for 1's line of 1 for ever.
//
// The decision word holds the low bits of k. They tell k from what was there before:
// after the first (b) every agreement is one, because who has no line of k has none
// of k+1. So the word of the slot held nothing, or k-Slots.
//
// # Forgetting
//
// Nothing is kept, so there is nothing to collect (rule 8), and Value.Returned is 0.
// The memory may go to another communicator while a slow member still looks at it:
// what Memory demands keeps the two apart.
//
// # What is not promised
//
//   - Anything if a death was wrong: see above.
//   - That a death during the agreement is, or is not, part of the result (R34,
//     A18). It is the same at all members in any case.
//   - Progress without a member that never proposes and never stops (A22). WaitsFor
//     says who that is.
//   - Waking: a Series learns that memory has moved when its owner says so (Look).
//
// To read next: testdata/failure_free.txt, decide.go, testdata/left_or_dead.txt.
package onenode
