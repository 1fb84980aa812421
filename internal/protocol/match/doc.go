// Package match holds one process's matching rules for point-to-point messages: which receive gets
// which message, and which receives a death, a revocation or a free completes.
//
// # Problem
//
// A message names a context (one class of one communicator), a source and a tag; a receive names a
// context and may leave source and tag open. The earlier of the two waits for the other: a receive
// in the posted queues, a message in the unexpected queues. The MPI standard (chapter 3, sections
// 3.2.4 and 3.5) fixes the order of matching. Two messages of one source on one context match in
// the order sent whenever one receive could take either (non-overtaking). Two receives that could
// take the same message match in the order posted. ULFM (rules R8, R46-R50, R54) fixes which
// receives a failure completes.
//
// # Structure
//
// A context has, per source, one queue of the posted receives that name that source and one of its
// unexpected messages. It also has one queue for the receives from any source, and one list of all
// unexpected messages by arrival. A global post sequence orders a named receive against a wildcard
// one. So Arrive and Post check two queue heads when tags match there, for any number of sources; a
// queue is searched only past entries whose tag differs.
//
// Receives are embedded in their owner's request and linked by intrusive pointers; messages and
// their payload buffers come from the Matcher's bounded pools. In a steady state nothing allocates.
//
// # Invariants
//
//   - No posted receive matches any unexpected message of its context.
//   - Queues are ordered: posted ones by post sequence, unexpected ones by arrival, and each
//     source's queue is a subsequence of the arrival list.
//   - Only a Live context has posted receives; only a Pending or Live one has messages.
//   - A Recv is in a queue iff Withdraw would return true.
//
// # Not promised
//
//   - No locking: the caller serializes all calls.
//   - No memory of deaths. Fail ends the receives that are posted at that moment. The rules above
//     (R47, R48, R55) decide whether a receive may be posted on a dead source, and what it then
//     reports. Post first and check for dead sources afterwards: a complete message of a dead
//     process is still delivered (R8).
//   - No bound on the number of messages. The sender's Credit bounds pushed bytes; see Charge for
//     why headers should be counted too.
//   - No types and no lengths: a too long or wrongly typed message matches like any other, as the
//     standard requires, and the receive reports the error.
package match
