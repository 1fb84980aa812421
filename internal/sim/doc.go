// Package sim is a cluster in a bottle: the control rules that ship, hosted in
// virtual time, on a network and under faults that one seed decides.
//
// # Problem
//
// Agreement, detection and revocation fail in schedules that no test on real
// processes meets. Here a run is a function of its Options: same options, same
// trace hash. A failure names its seed and the command that replays it.
//
// # How a run goes
//
// Every process is a control.Control, hosted as the engine hosts it, and a small
// program that calls agree, shrink, dup, split, revoke, free and finalize on
// several communicators at once (program.go). What it calls is a function of
// seed, communicator and number, so that all members call the same. The tape
// (tape.go) draws the swarm options of the run first - how slow the network is,
// how late deaths are noticed, how many processes die and when - and then each
// single delay and choice. Frames between two processes stay in order; frames of
// different senders, notices of death and programs interleave in any way.
// The agreements' watchdog is off unless Options turn it on: a run that needs it
// to end is a failure.
//
// # What is checked
//
// Each decision is compared, when it is taken, with what the living have decided
// and contributed; in the end all survivors must be done (checker.go).
//
//	I1  the living never differ in a decision: flag, dead, error class, group
//	I2  every survivor's calls end
//	I3  every living member's contribution is in a decision, and nothing else
//	I4  a call is answered exactly once
//	I6  only processes that ended are declared dead, once each, and before any
//	    result that names them
//	I8  what is revoked somewhere is revoked at all living members
//	I9  a communicator has the same members, order, uid and indices at all
//	R36 success of agree: all contributors had acknowledged the agreed dead
//	R38 a shrink leaves out whom a member knew to be dead when it entered
//
// # What is not here yet
//
// Pauses, partitions, duplicates, the ring detector under load, and the papers'
// figures.
package sim
