// Package job has the launcher's rules about processes: which of them belong to the job, what
// their deaths mean to others, which are wanted, and how the job has ended.
//
// The problem. A job begins with the ranks of goulfm run, and its ranks start more of them.
// Facts about each process come from several sides in any order: its tombstone falls, its
// parent reaps it, what it said last is read after both; a rank says that it keeps processes
// which end at that moment. Whoever acts on each fact as it comes decides differently from run
// to run. Here every fact is an Event, and Step returns what follows from it.
//
//	launcher, daemon                     rules
//	tombstone, reaped, read, asked  -->  Step(event)
//	declare, kill, answer, tell     <--  []Action
//
// Invariants:
//
//   - A death is declared once, and a process that was through Finalize has left, not died.
//   - Of what one Spawn has started all processes are kept or all are ended (R59). Nobody waits
//     for ever to hear which: where no member is left that could say so, they are ended.
//   - What a process has said before its end counts before its end is judged.
//   - The verdict goes by how processes ended, not by the order in which that was found, but for
//     the first that said that it failed.
//
// Not promised: that a process to be killed is there. The daemon of a node sends signals under
// the lock under which it reaps, and knows.
//
// Between nodes nothing changes here: events come from several daemons. Deaths of nodes are
// another set of rules.
//
// Reading order: event.go, action.go, job.go, batch.go (Spawn), silence.go (processes that
// show no life), verdict.go.
package job
