// Package repair decides how a world of processes outlives its members: when a version of
// its data is committed, how all members leave an attempt after a death, who replaces
// whom, which version the next attempt starts from, and when to give up.
//
// A program is a body that is called again after each repair. One call is an attempt; it
// has a communicator of its own, in uniform mode: a death revokes it at all members. The
// body calls Protect once, to register its data and to get back the newest version, and
// Commit at consistent points.
//
// # The states of one process
//
//	          Protect                      Commit, when due
//	Computing -----> Gathering    Computing -----> Copying
//	    ^            reports |        ^              | stored
//	    |                    v        |              v
//	    +--- Deciding <- Restoring    +---------- Deciding
//
//	Computing --body returns--> Leaving --all of it ended--> Deciding --+
//	                               |  boundary decided before           |
//	                               v                                    v
//	   Over <--all finished, stopped, or misplaced------------------- (decided)
//	   Over <--Telling<--fatal-- Shrinking <--anything else-------------+
//	   Over <--no progress--------- |   ^
//	   run  <--nobody missing-------+   | Unfilled
//	   run  <--replaced---------- Filling
//	   Over, or run with fewer <----+ too few processes, or FillsMax times Unfilled
//
// A call that cannot succeed returns to Computing early: a Protect that lacks the reports or finds
// no version to restore, and a Commit after the end of the attempt was decided. Then the body has
// to return.
//
// # One agreement at every boundary
//
// Commit, the end of Protect and the end of an attempt are the same call, an agreement
// on the attempt's communicator, and each member says in its flag which of them it is in
// (word.go). If they were different calls, one member would wait in a commit for another
// that is in a shrink. The agreement tells all living members the same, so they all
// commit or none, and they all leave or none.
//
// # Invariants
//
// The model of the tests checks them over schedules with deaths at every step, without messages;
// package sim/repairs does by messages, with slots and late news:
//
//	V1  all living members begin an attempt with the same size, ranks and version
//	V2  no version is restored that is older than one whose Commit returned OK at a
//	    living rank, while losses stay within the levels
//	V3  the parts of different versions are never mixed
//	V4  with finitely many deaths all members come to an end, and to the same
//	V6  after Protect the copies are as the layout says
//	V7  interval, stop and leave are the same at all members
//	V8  what is saved outside of versions never goes back
//	V13 a process is new until a Protect of it was agreed, and all know which ranks have a new process
//
// Package sim/repairs alone checks V9 to V12, about files and about unseen changes, and V5 and V14,
// about places in the job's tables. V5 and V14 are not decided here. V5 says that no place is
// reused while any process refers to it, V14 that no process is refused a place that only the dead
// hold.
//
// All decisions follow from uniform outcomes: of agreements, shrinks, replacements. What
// a process alone has seen (a failed exchange, an error of its body, its clock) never
// decides; it goes into a flag. What is counted over several attempts is alike at all
// members, and replacements get it as a handover.
//
// # What the owner provides
//
//   - Agree, Shrink and Replace have one outcome at all living members; they are numbered
//     together, and none of them ends by a revocation.
//   - If members of a replacement come to different outcomes because those with the first
//     one have died, the replacements of the first one end. (They wait for members that will
//     never come.)
//   - A process that has died may have come to another outcome than those who live, and have made
//     its next call: where that meets another call of the living, theirs is made again.
//   - A version survives its process: reports name what the dead have left behind, and a
//     process reads it at once. But nothing is written there, no copy for somebody else
//     either, before the predecessor was reaped: its threads may still be storing.
//   - What a Restore makes stands beside what was there before: nothing is overwritten. A process
//     that cannot do its part of a Restore or of a Copy revokes the communicator: others may wait
//     for data from it.
//   - After a restart of all processes each home has its process on the node where it is.
//   - Calls of the program itself that agree on the attempt's communicator end by its
//     revocation; otherwise one waits for a member that has left.
//
// # Not promised
//
// An error of a body after the boundary that ends its attempt is decided is not fatal;
// the next attempt meets it again. A message that a rank sent before a commit and another
// receives after it is not part of the version. Commits that are due at one member only,
// because the program calls them at different places, are found at the next boundary
// where the calls differ, not where the places do.
//
// Sources of the ideas: Gamell et al. (Fenix, SC'14) and Teranishi and Heroux (LFLR,
// 2014) for repair in place; Bland et al. (ULFM, 2013) for shrink and agree.
//
// To read next: event.go, label.go, world.go, attempt.go, leave.go, word.go, choose.go, holding.go,
// handover.go, role.go, archive.go, replay.go, and a script in testdata.
package repair
