// Package flood spreads a set that only grows to every member of a fixed group, although members
// die while it spreads. Death notices (package fd) and revocations of a communicator (package
// internal/protocol/commstate) travel this way.
//
// # Method
//
// Member m is joined to m ± 2^i mod n (i = 0, 1, ...), the binomial graph of Angskun, Bosilca and
// Dongarra, ISPA 2007, and to its nearest live neighbour on either side of the ring of members. A
// member whose set grows sends the whole set once to all of these, in one message each, and waits
// for no answer. Messages of a spanning tree are sent first (Order).
//
// Zhong et al., PARCO 2019, and RR-9024, Algorithm 1, T5 leave gaps, closed here:
//
//   - T5 forwards every message, for ever. Here a member forwards only when its set grew, so n
//     members and k items cost at most n·k rounds of forwarding (B3, B14).
//   - T5 adds one item per message; here the whole set is merged (B6).
//   - T5 computes the graph from the sender's list of the dead, so members with different lists use
//     different graphs. Here the graph is a function of the original membership alone (B7, B8).
//   - A member whose message lacks an item is answered with the whole set (B2).
//   - A member that finds a new nearest live neighbour sends it the whole set, and two members
//     whose digests differ exchange their sets (B3).
//   - No message is sent to a closed member, and no member waits for a slow one (B21).
//
// # Invariants
//
//   - A set shrinks only by Vacated; every item is delivered exactly once while it is in the set.
//   - No message is sent to, or accepted from, a member reported as Failed.
//   - Once every live member knows every death and every message has arrived, all live members hold
//     the same set: in the ring of live members, each has sent its last set to its successor, hence
//     each set is contained in the next one.
//
// # Deaths that a flood survives
//
// Without any notice of death a flood reaches every live member as long as fewer than κ members are
// dead. κ is the node connectivity of the graph: it equals the number of neighbours,
// len(Neighbors(n, me)), about 2·log2(n), checked by max-flow for every n up to 70. The bound is
// tight: if exactly the neighbours of one member die, that member is cut off. Then, and beyond, the
// flood is completed by the mends that follow the notices of death, and by digests.
//
// # Not promised
//
// An item known only to members that died is lost. Items are delivered in no particular order. A
// digest has 64 bits: Compare would not notice two different sets with equal digests. Channels
// between live members must neither lose nor invent messages; their order does not matter.
package flood
