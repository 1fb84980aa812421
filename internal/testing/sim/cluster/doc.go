// Package cluster is a cluster in a bottle: the rules that ship, hosted in virtual
// time, on a network and under faults that one seed decides.
//
// # Problem
//
// Agreement, detection and revocation fail in schedules that no test on real
// processes meets. Here a run is a function of its Options: same options, same
// trace hash. A failure names its seed and the command that replays it.
//
// # How a run goes
//
// Every process is a control.Control, a match.Matcher and the ends of long messages (package
// rendezvous), hosted as the engine hosts them, and a small program that calls agree, shrink, dup,
// split, revoke, free and finalize on several communicators at once (program.go), and sends and
// receives messages on them (data.go), some of them long (long.go); of those it wants some back
// before they have matched, and sends them again. What it calls is a function of seed, communicator
// and number, so that all members call the same. The swarm options of a run are drawn first - how
// slow the network is, how deaths are found, how many processes crash, stop, are cut off - and then
// its faults, each tied to a step of a process (faults.go). Every further choice is a function of
// the seed, of what it is for and of its number (tape.go), so that taking a fault away leaves all
// other choices as they are. Frames of one lane between two processes stay in order; all else
// interleaves in any way. The agreements' watchdog is off unless Options turn it on: a run that
// needs it to end is a failure.
//
// A run has a safety phase, in which faults happen, and a liveness phase, which
// begins when the last fault is over. Faults are finitely many and end, and then
// all must end, within settleMax where heartbeats go on for ever.
//
// # Faults
//
// Crashes at any step and after any number of its frames, with loss of a part of
// what is on the way, one after the other among relatives; pauses, also in the
// middle of sending; processes that keep stopping; partitions, symmetric and one
// way; stalled links; delays with a heavy tail; late last words; late news of
// deaths. Matrix counts which fault hit which phase of the protocols.
//
// # Shrinking
//
// Shrink takes away processes, faults, calls and messages as long as what is left breaks
// the same invariant. It keeps names: what is left chooses as it chose in the whole run
// (part.go).
//
// # Three detectors
//
// Exact runs tell each survivor of each death, at a time of its own. Ring runs have
// heartbeats and keep faults within what fd.Config bears: nobody who lives may be
// declared dead, and each death must be known in time. Wild runs do not: who is
// declared dead and lives must end as soon as it can be reached. There two
// who live may differ iff one of them, or one who left in peace, has declared the
// other dead, or if wrong accusations cross: two have each declared somebody
// who lives and whom the other had not. There fencing does not replace an accurate
// detector (A24, B18); the report counts such runs,
// and those of them whose survivors could not go on together.
//
// # Two ways to agree
//
// Every other Exact run agrees in shared memory, as the processes of one node do; the
// others by messages. Whole steps are atomic there: single accesses to memory are
// ordered by the tests of package era/onenode. Who has moved something makes the others
// look, each after a while. There are so few blocks of memory that they are used again,
// and that some communicators have none.
//
// # What is checked
//
// Each decision is compared, when it is taken, with what the living have decided
// and contributed; in the end all survivors must be done (checker.go).
//
//	I1  the living never differ in a decision: flag, dead, error class, group
//	I2  every survivor's calls end, in the liveness phase at the latest
//	I3  every living member's contribution is in a decision, and nothing else
//	I4  a call is answered exactly once
//	I5  each death is known to all survivors; with heartbeats in time
//	I6  only processes that ended are declared dead, once each, and before any
//	    result that names them; nothing of them is delivered after it
//	I8  what is revoked somewhere is revoked at all living members
//	I9  a communicator has the same members, order, uid and indices at all
//	I10 messages between the living come once, in order, and none is lost
//	I11 no receive has wrong contents, or those of another communicator
//	I12 a buffer that was given back to its program is neither written nor read
//	I13 a message that its sender asked back before it matched is not received
//	I14 few frames are on the way between two processes, however slow one is
//	I17 the same options are the same run (a test runs each twice)
//	R15 who is told "revoked" finds the communicator revoked
//	R36 success of agree: all contributors had acknowledged the agreed dead
//	R38 a shrink leaves out whom a member knew to be dead when it entered
//
// A panic of the rules is reported as "assert".
//
// # Searches
//
// Searches visit all states of very small worlds instead: every order of calls,
// deliveries, deaths and notices (explore.go, models.go). They copy and compare
// the machines of the rules as they are (machine.go).
//
// # Not here
//
// Duplicated frames: the rules are promised channels that deliver once and in order until one end
// dies. Reconnects, clocks of different rates, and partitions of which at most one side may
// continue (I7): package nodes has them. Stale incarnations: package repairs has them, and a
// process has one life here. Networks that stay cut for ever.
package cluster
