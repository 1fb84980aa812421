// Package repair decides how a world of processes survives the deaths of its members: when a
// version of its data is committed, how all members leave an attempt after a death, which processes
// replace the dead, from which version the next attempt starts, and when to give up.
//
// A program is a body that is called again after each repair. One call is an attempt. Each attempt
// has its own communicator, in uniform mode: a death revokes the communicator at all members. The
// body calls Protect once, to register its data and to get back the newest version, and calls
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
// A call that cannot succeed returns to Computing early. Such a call is a Protect that lacks the
// reports, finds no version to restore or finds that ranks protect different data, or a Commit
// after the end of the attempt was decided. The body must then return.
//
// # One agreement at every boundary
//
// Commit, the end of Protect and the end of an attempt are one call: an agreement on the attempt's
// communicator. Each member's flag names the call in which the member is (word.go). With different
// calls, a member in a commit would wait for another member that is in a shrink. The agreement
// returns the same result to all living members, so they all commit or none, and they all leave or
// none.
//
// # Invariants
//
// The model of the tests checks them over schedules with deaths at every step, without messages.
// Package sim/repairs checks them with messages, with slots, and with news that arrives late:
//
//	V1  all living members begin an attempt with the same size, ranks and version
//	V2  no version is restored that is older than one whose Commit returned OK at a
//	    living rank, while losses stay within the levels
//	V3  the parts of different versions are never mixed
//	V4  with finitely many deaths all members come to an end, and to the same
//	V6  after Protect the copies are as the layout requires
//	V7  interval, stop and leave are the same at all members
//	V8  data that are saved outside of versions never return to an older state
//	V13 a process is new until a Protect of it was agreed, and all know the ranks with new processes
//
// Only package sim/repairs checks V9 to V12, about files and about unseen changes, and V5 and V14,
// about places in the job's tables. V5 and V14 are not decided here. V5: no place is reused while
// any process refers to it. V14: no process is refused a place that only the dead hold.
//
// All decisions follow from uniform outcomes: of agreements, shrinks and replacements. The
// observations of one process (a failed exchange, an error of its body, its clock) never decide;
// they are contributed in a flag. Counts over several attempts are the same at all members, and
// replacements get them as a handover.
//
// # Duties of the owner
//
//   - Agree, Shrink and Replace have one outcome at all living members. They are numbered
//     together, and a revocation ends none of them.
//   - Members of a replacement may come to different outcomes if the members with the first
//     outcome have died. Then the replacements of the first outcome end: they wait for members
//     that will never come.
//   - A process that has died may have come to another outcome than the living, and may have
//     made its next call. If this call meets another call of the living, the call of the living
//     is made again.
//   - A version survives its process: the reports include the data that the dead have left, and a
//     process can read these at once. Nothing is written to the memory of a dead process before
//     that process was reaped, because its threads may still be storing. This includes copies for
//     other ranks.
//   - A Restore adds its results to the data that were there before and overwrites nothing. A
//     process that cannot do its part of a Restore or of a Copy revokes the communicator, because
//     other members may wait for its data.
//   - After a restart of all processes each home has its process on the node that has the home.
//   - Agreements that the program itself makes on the attempt's communicator end by its
//     revocation. Otherwise a member would wait for a member that has left.
//
// # Not promised
//
// An error of a body after the boundary that ends its attempt is decided is not fatal; the next
// attempt meets the error again. A message that a rank sends before a commit and another rank
// receives after the commit is not part of the version. If a program calls Commit at different
// places, commits may be due at one member only. This is found at the next boundary at which the
// calls differ, not at the different places.
//
// Sources of the ideas: Gamell et al. (Fenix, SC'14) and Teranishi and Heroux (LFLR,
// 2014) for repair in place; Bland et al. (ULFM, 2013) for shrink and agree.
//
// To read next: event.go, label.go, world.go, attempt.go, leave.go, word.go, choose.go, holding.go,
// handover.go, role.go, archive.go, replay.go, and a script in testdata.
package repair
