// Package log2phases is the agreement by two-phase commit over a tree with log n phases, the
// baseline that ERA is compared with. Benchmarks alone use it; programs agree by package era.
//
// Sources: Herault et al., "Practical Scalable Consensus for Pseudo-Synchronous Distributed
// Systems", SC'15 ("the paper"), sections 4.1 and 5, which name it Log2phases; Hursey et al., "A
// Log-Scaling Fault Tolerant Agreement Algorithm for a Fault Tolerant MPI", EuroMPI 2011; and its
// implementation in the legacy branch of ULFM (coll_ftbasic_agreement_log2phase.c), for the shape
// of the tree, the recovery from a dead parent, and the point at which the tree is rebuilt.
//
// # The algorithm
//
// The members form a binomial tree: the root has one child for each power of two below n. In the
// first phase the votes move up. A member sends a Vote to its parent when each of its children has
// voted; the value of a vote combines those of the subtree. In the second phase the root commits
// the combined value, and the Commit moves down the same tree. Without a failure an agreement takes
// n-1 votes and n-1 commits, in at most 2·⌈log2 n⌉ steps. The request that precedes the votes in a
// classical two-phase commit is left out, as in the implementation.
//
// Failures of members other than the root: the children of a dead member belong to its nearest
// living ancestor. A child that has voted to the dead member votes again, to that ancestor. An
// ancestor that still gathers sends a Request to the children that it inherits.
//
// Failure of the root: the next living member is elected, and a new attempt begins. Its tree is
// that of the members behind the dead roots. Each member that enters the attempt sends a Request to
// its children and gathers their votes anew. A member that has committed answers with its decision,
// which the others take over.
//
// The committed value names the dead members. All members build the tree of the next agreement
// without them.
//
// # Promises
//
//   - Agreement: no two living members decide differently.
//   - Validity: a decision combines contributions of its members, includes those of all members
//     that survive, and names only members that have died.
//   - Termination: all living members decide once each knows all deaths.
//
// They hold for any number of failures, before and during an agreement, if the failure detector is
// exact. A vote is a promise, as in package era: its sender commits only what comes from the
// receiver, until it knows that the receiver has died.
//
// # Limits
//
//   - Blocking only: an agreement begins after the one before is decided here (the paper, section
//     5). A member keeps one decision.
//   - Agreement with the dead is not promised: if all members that committed die, the others may
//     commit another value.
//   - The election is simpler and safer than that of the implementation. There orphans query their
//     peers, and "a small set of random failures will eventually make the implemented election
//     fail" (the paper, section 5). So the baseline is at least as good here as in the paper.
//   - The work of a member apart from its messages is not part of the rules. In the implementation
//     a member walks the list of all processes several times in each agreement; the host may
//     charge for that.
//
// To read next: testdata/failure_free.txt, series.go, testdata/root_dies.txt.
package log2phases
