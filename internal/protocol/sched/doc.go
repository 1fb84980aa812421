// Package sched holds the schedules of the collectives: which rank sends which elements to which
// peer, and after which steps. A schedule is data. A pure function builds a schedule, a verifier
// proves it for all ranks at once, and the goroutine that makes progress executes it. So every
// collective has a non-blocking twin and runs on any transport.
//
// # Model
//
// A Plan is one rank's part: a flat list of Steps (Send, Recv, Copy, Reduce) on three buffers,
// Input, Output and Scratch. Offsets and lengths count elements of any type. A step may start when
// the earlier steps that it waits for are complete. Sends of a rank to one peer start in the order
// of the plan, and so do receives from one peer: hence the k-th message of a pair meets the k-th
// receive, with a single tag. Nothing else is ordered.
//
// Empty messages are sent, too, so that the pattern does not depend on which blocks are empty. The
// pattern depends on the number of ranks, the root, the number of segments, and for a two-level
// algorithm on the node of each rank.
//
// An Algorithm is a builder with its name, its requirements and its claims; see Algorithms. A
// two-level algorithm runs others in stages, among the ranks of a node or the leaders of the nodes.
// An Exec executes a Plan: the Exec returns the messages to start, and its host reports the
// complete ones.
//
// # What the Verifier proves
//
// For one Case (number of ranks, root, nodes, lengths, layout, in place or not):
//
//   - Every step stays inside its buffers, and none writes Input.
//   - Every Send has its Recv, of the same length, and the number of messages is as claimed.
//   - Steps of a rank that use one place, one of them writing, are ordered by their dependencies.
//     So neither the elements that a step reads nor the brackets of a reduction depend on the order
//     of events: results are the same bit for bit in each run.
//   - All ranks finish if every Send waits for its receiver. No event disables another event, so
//     the order does not matter, and a Send that completes earlier only enables more events: no
//     deadlock under any order.
//   - The plans are executed on symbolic contents: for each element its index and the ranks
//     combined in it, in sequence if the operation does not commute. No step reads an element that
//     was never written or may be arriving. No reduction takes a contribution twice or out of
//     order. Each Output ends as the verb demands, with all else untouched. After a barrier each
//     rank has received a message, directly or not, from every rank.
//   - The longest chain of messages, each waiting for the one before, is as
//     claimed.
//
// The third and fourth hold for all orders at once. The executions are nevertheless repeated,
// through the Exec that ships, under the extremes (all eager and oldest first; all rendezvous and
// newest first) and seeded orders between them. This supports the argument above with a second
// proof, and tests the Exec.
//
// The tests run the verifier over every builder for 1 to 12 ranks (long tests: 64) and around
// powers of two up to 1,025. go test -v prints the counts, and -long tries more roots, shapes and
// orders. Other tests plant errors into every step and demand that each is found or argued
// harmless, and compare results with a sequential computation.
//
// # Not promised
//
//   - Nothing about ranks that call with different lengths, roots or algorithms. Their messages do
//     not match in length or number, and the host must detect the mismatch. All ranks must derive
//     the choice of algorithm, Segment and Radix from values that all ranks know.
//   - Progress after a failure: a plan does not route around dead ranks. Fail ends the execution of
//     one rank; the rules of the layers above end the execution of the others.
//   - Edges of a graph between the same two ranks meet in the order of the lists, unless the host
//     gives another one (Shape.Arrivals): on a Cartesian grid of one or two ranks in a periodic
//     dimension MPI requires that the message sent down arrives from above.
//   - Packed layouts for some ranks only: a layout must be packed at all ranks. If each rank
//     chooses its own displacements, the host must use a builder for Scattered layouts.
//   - A proof for all n: each tried case is proved, without induction.
//
// # Sources
//
// Hensgen, Finkel, Manber 1988 (dissemination); Hillis, Steele 1986 (scan by
// doubling); Barnett, van de Geijn et al. 1994 (scatter-allgather broadcast); Bruck,
// Ho, Kipnis, Upfal, Weathersby 1997 (all-to-all and allgather in log n rounds);
// Rabenseifner 1997 (reduce and allreduce by halving and doubling); Thakur,
// Rabenseifner, Gropp, IJHPCA 2005 (recursive doubling and halving, folding to a
// power of two, pairwise exchange, ring); Chen, Zhang, Zhang, Yuan 2005 (neighbour
// exchange); Karonis et al., IPDPS 2000 (levels of a network); Patarasuk, Yuan, JPDC
// 2009 (ring allreduce); De Sensi et al., SC'25 (Bine trees).
package sched
