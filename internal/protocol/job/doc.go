// Package job has the launcher's rules about processes: the membership of the job, the consequences
// of a death for others, the processes to keep, and the way in which the job has ended.
//
// The problem. A job begins with the ranks of goulfm run, and its ranks start more of them. Facts
// about each process come from several sides in any order. Its tombstone falls, its parent reaps
// it, and its last messages are read after both; a rank reports that it keeps processes which end
// at that moment. A launcher that acts on each fact at once decides differently from run to run.
// Here every fact is an Event, and Step returns its consequences.
//
//	launcher, daemon                     rules
//	tombstone, reaped, read, asked  -->  Step(event)
//	declare, kill, answer, tell     <--  []Action
//
// Invariants:
//
//   - A death is declared once, and a process that was through Finalize has left, not died.
//   - Either all processes of one Spawn are kept or all are ended (R59). They do not wait for ever
//     for that decision: if no member is left that could report it, they are ended.
//   - All messages of a process before its end count before its end is judged.
//   - The verdict depends on the ends of the processes, not on the order in which they were found,
//     except for the first process that reported a failure.
//
// Not promised: that a process to be killed still exists. The daemon of a node sends signals under
// the lock under which it reaps, and so knows.
//
// Between nodes nothing changes here: events come from several daemons. Deaths of nodes are another
// set of rules.
//
// Reading order of the files: event, action, job, batch (Spawn), slots, spares (Replace without a
// start), silence (processes that show no life), verdict.
package job
