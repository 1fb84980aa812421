// Package commstate is one communicator at one of its members, as rules: what the member
// knows of failed members, and what revoke, agree, shrink and the agreed creation of
// communicators do there. Which call raises which error class stands in package ulfm.
//
// # Problem
//
// When a process fails, the members of a communicator must be able to interrupt each
// other (revoke), to agree on what happened (agree), and to go on without the dead
// (shrink), whatever else fails meanwhile. The text followed is the MPI Forum's ULFM
// proposal (slices 1 to 3; it is in no MPI standard yet) and the manual pages of Open
// MPI; the rule numbers are those of docs/SEMANTICS.md. The agreement under it is ERA
// (package era; Herault et al., SC'15), or, among processes of one node, the same by
// shared memory (package era/onenode).
//
// # What is where
//
//   - Failed is the list of failed members and its acknowledged prefix (R19-R26).
//   - Comm is a communicator at one member: a machine with Step that owns its
//     agreements and the flood of its revocation, which is silent where the members
//     share memory (Config.SilentRevocation).
//   - Call, Kind and Series say which calls end in an agreement, and how their
//     agreements are numbered.
//   - Group.Outcome turns a decided value into the result of a call.
//   - UID names a communicator in the whole job.
//
// # Invariants
//
//   - Outcome is a function of the decided value and the group, hence uniform
//     (R29, R56). Success of agree implies that all contributors had acknowledged
//     the same set, which is the agreed dead (R36).
//   - A shrink is one agreement. Its group is the old one without the agreed dead,
//     in old order (R38-R40).
//   - A revocation is permanent, comes once, and ends creations but no agree and
//     no shrink (R12, R13).
//   - Each proposal is answered exactly once: by Decide or by GiveUp.
//
// # What is not promised
//
//   - A creation that a revocation overtakes may succeed at some members and give
//     ulfm.ErrRevoked at others. Then the others revoke what was created, so nobody
//     waits on it for ever.
//   - A process that fails after it contributed may or may not count in an
//     agreement (R34), and processes that are all dead may have decided what no
//     survivor knows (A17).
//   - A group made by shrink may contain processes that failed meanwhile (R41).
//
// # Reading order
//
// call.go (what members call), failed.go, comm.go (the machine; event.go lists what it
// takes and gives), agree.go and node.go (the two ways to agree), outcome.go with
// create.go, shrink.go and close.go (what a decision means).
package commstate
