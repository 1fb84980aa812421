// Package cluster simulates a cluster: the protocol rules that ship, hosted in virtual time, on a
// network and under faults that one seed determines.
//
// # Problem
//
// Agreement, detection and revocation fail in schedules that no test on real processes meets. Here
// a run is a function of its Options: the same options give the same trace hash. A failure names
// its seed and the command that replays the run.
//
// # How a run works
//
// Every process is a control.Control, a match.Matcher and the ends of long messages (package
// rendezvous). They are hosted as the engine hosts them. A small program runs on each process. It
// calls agree, shrink, dup, split, create_group, revoke, free and finalize on several communicators
// at once (program.go, gather.go). It also sends and receives messages on them (data.go), and some
// of these are long (long.go). The program withdraws some long messages before they have matched,
// and sends them again later. Each call is a function of the seed, the communicator and the number
// of the call, so that all members make the same calls.
//
// The parameters of a run (its swarm options) are drawn first: how slow the network is, how deaths
// are detected, how many processes crash, pause or are cut off. Then the faults are drawn, each
// tied to a step of a process (faults.go). Every further choice is a function of the seed, of its
// purpose and of its number (world.Tape), so that removing a fault leaves all other choices
// unchanged.
//
// Frames of one lane between two processes stay in order. All other events interleave in any way.
// The watchdog of the agreements is off unless Options turn it on: a run that cannot
// end without the watchdog is a failure.
//
// A run has two phases. Faults happen in the safety phase. The liveness phase begins when the last
// fault is over. Faults are finite in number and duration. After them every run must end. Where
// heartbeats never cease, it must end within settleMax.
//
// # Faults
//
//   - Crashes at any step and after any number of its frames, with loss of part of the frames on
//     the way. Related processes may crash one after the other.
//   - Pauses, also in the middle of sending, and processes that pause repeatedly.
//   - Partitions, symmetric and one way, and stalled links.
//   - Delays with a heavy tail, late last frames, and late notices of deaths.
//
// Matrix counts which fault hit which phase of the protocols.
//
// # Shrinking
//
// Shrink removes processes, faults, calls and messages as long as the rest of the run breaks the
// same invariant. Names are kept: the remaining items make the choices that they made in the whole
// run (part.go).
//
// # Three detectors
//
// Exact runs notify each survivor of each death, at a time of its own.
//
// Ring runs have heartbeats, and their faults stay within the limits of fd.Config. No live process
// may be declared dead, and each death must be known in time.
//
// Wild runs exceed these limits. A live process that was declared dead must end as soon as it can
// be reached, or declare in turn. Two live processes may differ in two cases only. In the first,
// one of the two, or a process that left in peace, has declared the other dead. In the second,
// wrong accusations cross: each of two processes has declared a live process that the other had not
// declared. There fencing does not replace an accurate detector (A24, B18). The report counts such
// runs, and those whose survivors could not continue together.
//
// # Two ways to agree
//
// Every other Exact run agrees in shared memory, as the processes of one node do. The others agree
// by messages. Whole steps are atomic here: the tests of package era/onenode order single accesses
// to memory. After a member has changed a block, the other members inspect the block, each after a
// delay. The number of blocks (world.Blocks) is so small that blocks are reused, and that some
// communicators have none.
//
// # Checks
//
// Each decision is compared, when a process takes it, with the decisions and contributions of the
// live processes. At the end all survivors must be done (checker.go).
//
//	I1  live processes never differ in a decision: flag, dead, error class, group
//	I2  every survivor's calls end, in the liveness phase at the latest
//	I3  every live member's contribution is in a decision, and nothing else
//	I4  a call is answered exactly once
//	I5  each death is known to all survivors; with heartbeats in time
//	I6  only processes that ended are declared dead, once each, and before any
//	    result that names them; nothing of them is delivered after it
//	I8  a communicator revoked at one live member is revoked at all live members
//	I9  a communicator has the same members, order, uid and indices at all
//	I10 messages between live processes come once, in order, and none is lost
//	I11 no receive has wrong contents, or those of another communicator
//	I12 a buffer that was returned to its program is neither written nor read
//	I13 a message that its sender withdrew before it matched is not received
//	I14 few frames are on the way between two processes, however slow one is
//	I17 the same options are the same run (a test runs each twice)
//	C9  uniform runs: a communicator with a dead member is revoked
//	R15 a call that returns "revoked" finds the communicator revoked
//	R31 a process learns of a death before any result that names it
//	R36 success of agree: all contributors had acknowledged the agreed dead
//	R38 a shrink leaves out every process that a contributor knew to be dead
//	    when it entered
//	R57 a creation from a group has one answer, and takes every member
//
// A panic of the rules is reported as "assert".
//
// # Searches
//
// Searches visit all states of very small worlds instead: every order of calls, deliveries, deaths
// and notices (explore.go, models.go). They copy and compare the machines of the rules without
// changes to these (machine.go).
//
//	agree, shrink   I1 to I4, I6, I8, R36, R38
//	flood           I4 for each item, I8
//	ring detector   I5, I6
//
// # Out of scope
//
//   - Duplicated frames: the channels promise to deliver once and in order until one end dies.
//   - Reconnects, clocks of different rates, and partitions of which at most one side may continue
//     (I7): package nodes has them.
//   - Stale incarnations: package repairs has them. Here a process has one life.
//   - Networks that stay cut for ever.
package cluster
