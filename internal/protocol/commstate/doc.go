// Package commstate implements one communicator at one of its members, as a state machine: the
// member's record of failed members, and the rules of revoke, agree, shrink and the agreed creation
// of communicators. Package ulfm lists which call raises which error class.
//
// # Problem
//
// When a process fails, the members of a communicator must be able to interrupt each other
// (revoke), to agree on the failure (agree), and to continue without the dead (shrink), whichever
// other processes fail meanwhile. The package follows the MPI Forum's ULFM proposal (slices 1 to 3;
// the proposal is in no MPI standard yet) and the manual pages of Open MPI. The rule numbers are
// those of docs/SEMANTICS.md. The agreement below these rules is ERA (package era; Herault et al.,
// SC'15). Among processes of one node it uses shared memory (package era/onenode), and among
// several nodes with shared memory both levels (package era/twolevel).
//
// # Contents
//
//   - Failed is the list of failed members and its acknowledged prefix (R19-R26).
//   - Comm is a communicator at one member: a machine with Step that owns its
//     agreements and the flood of its revocation. The flood sends nothing where the
//     members share memory (Config.SilentRevocation).
//   - Call, Kind and Series define which calls end in an agreement, and how their
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
//   - A revocation is permanent and is reported once. It ends creations, but no
//     agree and no shrink (R12, R13).
//   - The caller of each proposal gets exactly one answer: the first Decide or
//     GiveUp. A later Decide of a proposal that was given up is no answer.
//
// # What is not promised
//
//   - A creation that a revocation overtakes may succeed at some members and give
//     ulfm.ErrRevoked at others. The members that have the new communicator then
//     revoke it, so no member waits on it for ever.
//   - A process that fails after its contribution may or may not count in an
//     agreement (R34). Processes that are all dead may have decided a value that no
//     survivor knows (A17).
//   - A group made by shrink may contain processes that failed meanwhile (R41).
//
// # Reading order
//
// call.go (the calls of members), failed.go, comm.go (the machine; event.go lists its events and
// actions), agree.go, node.go and nodes.go (the result of an agreement, and agreements in shared
// memory), outcome.go with create.go, shrink.go, replace.go and close.go (the meaning of a
// decision).
package commstate
