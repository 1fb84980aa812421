// Package match holds one process's matching rules for point-to-point
// messages: which receive gets which message, and what a death, a revocation
// or a free completes.
//
// # Problem
//
// A message names a context (one class of one communicator), a source and a
// tag; a receive names a context and may leave source and tag open. Whichever
// comes first waits for the other: a receive in the posted queues, a message
// in the unexpected queues. The MPI standard (chapter 3, sections 3.2.4 and
// 3.5) fixes who meets whom: two messages of one source on one context match
// in the order sent whenever one receive could take either (non-overtaking),
// and two receives that could take the same message match in the order posted.
// ULFM (rules R8, R46-R50, R54) fixes what a failure completes.
//
// # Structure
//
// A context has, per source, one queue of the posted receives that name it and
// one of its unexpected messages; one more queue for the receives from any
// source; and one list of all unexpected messages by arrival. A global post
// sequence orders a named receive against a wildcard one. So Arrive and Post
// look at two queue heads when tags match there, however many sources there
// are; a queue is searched only past entries whose tag differs.
//
// Receives are embedded in their owner's request and linked by intrusive
// pointers; messages and their payload buffers come from the Matcher's bounded
// pools. In a steady state nothing allocates.
//
// # Invariants
//
//   - No posted receive matches any unexpected message of its context.
//   - Queues are ordered: posted ones by post sequence, unexpected ones by
//     arrival, and each source's queue is a subsequence of the arrival list.
//   - Only a Live context has posted receives; only a Pending or Live one has
//     messages.
//   - A Recv is in a queue iff Withdraw would return true.
//
// # Not promised
//
//   - No locking: the caller serializes all calls.
//   - No memory of deaths. Fail ends what is posted at that moment; whether a
//     receive may be posted on a dead source, and what it then reports, is for
//     the rules above (R47, R48, R55). Post first and look for the dead after:
//     a complete message of the dead is still delivered (R8).
//   - No bound on the number of messages. The sender's Credit bounds pushed
//     bytes; see Charge for why headers should be counted too.
//   - No types and no lengths: a too long or wrongly typed message matches like
//     any other, as the standard wants, and the receive reports it.
package match
