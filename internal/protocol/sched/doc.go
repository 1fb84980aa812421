// Package sched holds the schedules of the collectives: who sends what to whom,
// after what. A schedule is data. A pure function builds it, a verifier proves it
// for all ranks at once before it ever runs, and whoever makes progress executes
// it; so every collective has a non-blocking twin and runs on any transport.
//
// # Model
//
// A Plan is one rank's part: a flat list of Steps (Send, Recv, Copy, Reduce) on
// three buffers, Input, Output and Scratch. Offsets and lengths count elements,
// of whatever type. A step may start when the earlier steps that it waits for are
// complete. Sends of a rank to one peer start in the order of the plan, and so do
// receives from one peer: hence the k-th message of a pair meets the k-th receive,
// with a single tag. Nothing else is ordered.
//
// A message is sent even if it is empty, so that the pattern does not depend on
// which blocks are; it depends on the number of ranks, the root, how many segments
// there are, and for a two-level algorithm on which rank is on which node.
//
// An Algorithm is a builder with its name, what it asks for, and its claims; see
// Algorithms. A two-level one runs others in stages, among the ranks of a node or the
// leaders of the nodes. An Exec executes a Plan: it says which messages to start and is
// told which are complete.
//
// # What the Verifier proves
//
// For one Case (number of ranks, root, nodes, lengths, layout, in place or not):
//
//   - Every step stays inside its buffers, and none writes Input.
//   - Every Send has its Recv, of the same length, and the number of messages is
//     as claimed.
//   - Steps of a rank that use one place, one of them writing, are ordered by
//     their dependencies. So what each step reads does not depend on the order of
//     events, nor do the brackets of a reduction: results are the same bit for bit
//     in each run.
//   - All ranks come to their end if every Send waits for its receiver. An event
//     never takes from another the chance to happen, so the order does not matter,
//     and a Send that completes earlier only lets more happen: no deadlock under
//     any order.
//   - Executed on symbolic contents (which elements of whose contribution, in what
//     sequence if the operation does not commute), no step reads what was never
//     written or may be arriving, no reduction takes a contribution twice or out
//     of order, and each Output ends as the verb demands, with all else untouched.
//     After a barrier each rank has heard from all.
//   - The longest chain of messages, each waiting for the one before, is as
//     claimed.
//
// The third and fourth hold for all orders at once. The executions are repeated
// all the same, through the Exec that ships, under the extremes (all eager and
// oldest first; all rendezvous and newest first) and seeded orders between them:
// the argument above has a second leg, and the Exec is tested with it.
//
// The tests run the verifier over every builder for 1 to 64 ranks and around
// powers of two up to 1,025 (go test -v prints the counts, -long tries more roots,
// shapes and orders), plant errors into every step and demand that each is found or
// argued harmless, and compare results with a sequential computation.
//
// # Not promised
//
//   - Nothing about ranks that call with different lengths, roots or algorithms.
//     Their messages do not match in length or number: the host must notice. All
//     ranks must derive the choice of algorithm, Segment and Radix from what all
//     know.
//   - No more than a failed peer's absence: a plan does not go round the dead.
//     Fail ends the execution here; that it ends elsewhere too is for the rules
//     above.
//   - Edges of a graph between the same two ranks meet in the order of the lists,
//     unless the host gives another one (Shape.Arrivals): on a Cartesian grid of one or
//     two ranks in a periodic dimension MPI wants the message sent down to arrive from
//     above.
//   - Packed layouts are asked for at all ranks. Where displacements are each
//     rank's own affair the host takes a builder for Scattered ones.
//   - A proof for each case tried, not for all n: no induction.
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
