// Package fd is the failure detector: the only place where a process becomes dead. A death is a
// decision, not an observation. The input is evidence; the output is a declaration, which is
// irrevocable and reaches every process. A live process that was declared dead stops as soon as it
// learns of its declaration.
//
// This package is here to be read, not to be imported: its types are made of those of
// internal packages, and its names change without notice. Programs use comm.Comm.GetFailed.
//
// # Two modes
//
// Exact: on one machine the kernel reports the end of a process to every other one, so each death
// is reported as Exited, and there are no heartbeats and no timeouts.
//
// Ring: RR-9024 (Bosilca et al., A Failure Detector for HPC Platforms), Algorithm 1. The processes
// stand on a ring; each sends a heartbeat to the next live one, its observer, every Period (T1). An
// observer that receives nothing for Timeout (T2) becomes suspicious, declares the death, takes the
// next live predecessor for its new emitter (T3), which obeys (T4), and floods its dead set (T5,
// package flood).
//
// With Config.Adaptive the Period and the Timeout of the ring are not configured: each observer
// measures the path from its emitter, and requests as few heartbeats as suffice for a stated
// quality of detection (package adaptive; rhythm.go and observation.go here). The steps after a
// suspicion are the same.
//
// # Where the paper is filled in
//
//   - B1: a message of a process other than the emitter is a sign of life of its sender, and does
//     not count for the emitter's timing.
//   - B2: a new observer gets a heartbeat at once, and the two exchange their dead
//     sets if their digests differ. A NEWOBSERVER from a process nearer than the
//     present observer is stale.
//   - B3, B14: a notice has the dead and the left processes, and is forwarded iff this set grew;
//     heartbeats carry the digest of the set, and a difference leads to an exchange. B6: the whole
//     set is merged. B7, B8: the graph of the flood does not depend on the set.
//   - B5, B12: any growth of the set recomputes emitter and observer.
//   - B9: the predecessors of a suspect are watched, twice as many each time, so that neighbours
//     that die together are not found one after the other.
//   - B10: a suspect is probed, and may refute the suspicion until the declaration.
//   - B10, B17: time in which this process was late is not silence, nor a property of the network;
//     its lateness is measured (Drift).
//   - B11: an observer that was declared dead, and may live, is informed by its emitter.
//   - B13: a process without others is Alone.
//   - B15: no process has a part of its own.
//   - B16: the ring starts at a given moment; a process that leaves announces so in the flood,
//     waits for no other process, and is not dead.
//   - B18: with Majority, the smaller side of a partition stops.
//   - B19: a broken connection is a suspicion, an exit is certain.
//   - A2, B20: messages of the dead are dropped; a dead process that still sends, and is not known
//     to have ended, is informed once; a process that learns of its own declaration never acts
//     again.
//   - A21: a process that another one waits for is probed, independent of its observer.
//   - B25: with Config.Adaptive a requested period is sent until heartbeats show that the emitter
//     obeys, and each emitter is measured anew.
//   - Late processes (Absent, Came): a process that has not come yet is not on the ring. The others
//     learn of its arrival one after the other, and a NEWOBSERVER from beyond a live late process
//     is stale.
//   - Vacated: in Exact mode the number of a process that is dead or has left may be given to a
//     different one.
//
// # Invariants
//
//   - Each live process keeps its own set of the known dead (RR-9024, §2, invariant 1). The set
//     never shrinks (but for Vacated), never contains the process itself, and equals the declared
//     processes, each declared once.
//   - In Ring mode each live process that has not left observes its nearest predecessor that is not
//     known here as dead, left or absent (RR-9024, §2, invariant 2).
//   - No message but a fence notice is sent to a process declared dead.
//   - One Step sends at most four messages to the same process.
//   - After a Tick the deadline is later than the time of the Tick.
//
// Completeness, accuracy and their assumptions are stated with Config.
//
// # Not promised
//
// Accuracy is conditional. With Config.Fence a live process that is silent for longer than Config
// allows is declared, and then has to stop (B20): the detector is made perfect by fencing, not by
// knowing.
//
// Partitions (B18): by default (GoOn) two processes that declare each other, or two groups, all
// continue, each side without the other, until a process that both sides can reach informs the
// losing side. Majority prevents this, under the assumption and at the price stated there.
//
// Without Config.Fence a suspect that is not killed leaves its predecessor to be
// watched once, not observed.
//
// The announcement of a process that leaves is lost if all processes that received the announcement
// die before they forward it. The leaving process is then found silent, and treated like any
// process that ended. Messages are assumed to arrive once, or not at all if one end dies. Periodic
// heartbeats may be lost (IsHeartbeat), and so may a NEWOBSERVER with Config.Adaptive, which
// repeats it. Messages need not keep their order, except that RR-9024's bounds are for a known
// longest delay.
//
// Reading order: event.go, config.go, ring.go, suspect.go, detector.go, rhythm.go,
// observation.go; then the scripts in testdata, t1 to t5 first.
package fd
