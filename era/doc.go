// Package era is the early-returning agreement: the living members of a group combine their
// contributions and all return the same result, however many of them die meanwhile, the root of the
// tree included.
//
// Paper: Herault et al., "Practical Scalable Consensus for Pseudo-Synchronous
// Distributed Systems", SC'15, called "ERA" below. Its rules as printed can
// split two living members (A23); the rules here are the repaired ones. A rule
// or repair is cited by its number: A1-A24 are the repairs, "rule 1" to
// "rule 9" the resulting rules, R-numbers the promises to the user.
//
// This package is here to be read, not to be imported: its types are made of those of
// internal packages, and its names change without notice. Programs use comm.Comm.Agree.
//
// # The algorithm in one paragraph
//
// Members form a tree. Contributions move up (UP): a member sends an UP when the member itself and
// all its children have contributed. The root combines them, decides and sends the decision down
// (DOWN). A member returns as soon as the decision is known there (early returning) and keeps the
// decision for later requests. A dead member is skipped: its children belong to its nearest living
// ancestor, or, without one, to the root, which is the least living member. A member that becomes
// root after its UP cannot know whether an older root decided. The new root asks its children
// (RESULTREQUEST), and decides only when each of them has contributed to it, or has sent the
// decision.
//
// # Why two living members never decide differently
//
// An UP is a promise: "from now on I take this decision from you alone". A member changes its
// parent only after closing the old one, and drops every frame of a closed member. So:
//
//   - I1: a waiting member accepts DOWN from exactly one member.
//   - I2: each contributor of a living member has made its promise to that member. A promise ends
//     only with the death of its receiver, so the contributor cannot revoke it.
//   - I3: a root decides on its own only when every child in its view has promised to it. By I2,
//     and the same for the children of the children, every living member then waits, over one or
//     more promises, for this root: no member has decided anything else, and none will.
//
// # Events, actions, order
//
// A Series is a pure state machine: Step applies one event and returns the actions that the owner
// must execute in order. Between two members messages must arrive in the order they were sent;
// across pairs any delay is harmless, and so is any delay of a death notice. The owner answers a
// Decide with one Failed per agreed death it had not announced yet.
//
// # What is not promised
//
//   - Agreement with the dead (A17). If everybody that got a decision dies, the survivors may
//     decide otherwise. Effects outside the group (files, a commit) must wait for a second
//     agreement or be versioned.
//   - Agreement under false suspicion (A24). Every proof needs "declared dead implies silent for
//     ever". The failure detector ensures that by fencing: a member that is falsely declared dead
//     is cut off by all others and must stop.
//   - That a death during the agreement is, or is not, part of the result (R34, A18). The result is
//     the same at all living members in any case.
//   - Progress without a member that never proposes and never dies (A22). WaitsFor names that
//     member.
//
// # Participants of several ranks
//
// A participant can be several ranks, such as the ranks of one node (Config.Teams; team.go): the
// least rank that has not stopped speaks for the participant, and is the member of the tree above.
// Package twolevel describes the death of a speaker, and hosts such a Series.
//
// To read next: testdata/failure_free.txt, agreement.go, testdata/a23.txt.
package era
