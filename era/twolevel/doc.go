// Package twolevel is the agreement among the members of several nodes: those of a node meet
// in its memory, and the nodes agree by messages.
//
// Its promises are those of package era, and the messages between nodes are its own: a Series
// of era whose participants are nodes (era.Config.Teams). What a member contributes and
// what a node decides lie in memory as in package onenode. Rules are cited by number: A1-A28
// and R1-R68 are explained in docs/SEMANTICS.md.
//
// As package era it is here to be read, not to be imported. Package internal/protocol/commstate
// hosts it for communicators of which several members share a node; goulfm run --agree era has
// agreements go by package era alone.
//
// # A walk
//
// Two nodes of two members. 0 and 2 lead their nodes; the node of 0 is the root.
//
//	node of 0 and 1               node of 2 and 3
//	0         memory    1         2         memory    3
//	|-- line -->|<- line -|       |-- line -->|<- line -|    enter: one store each
//	|           |         |       |<- lines --|         |
//	|<------------- UP -----------|           |         |    2 waits for the node of 0
//	|<- lines --|         |       |           |         |
//	|-- word -->|         |       |           |         |    decided here, whoever dies now
//	|-------------- DOWN -------->|           |         |
//	returns     |- word ->|       |-- word -->|         |
//	            |   returns       returns     |- word ->|
//	                                                returns
//
// With m nodes there are 2(m-1) messages, however many members the nodes have, and of a
// node only the leader hears or says anything. testdata/failure_free.txt is this walk.
//
// # The algorithm
//
//   - A member enters agreement k by publishing its line, once; nobody changes a line.
//   - A node's leader is its least member that has neither died nor left, by the list of
//     the node. When each member of the node has a line of k or has stopped, the leader
//     enters k in the agreement of the nodes with what the lines say together.
//   - What that decides goes into the leader's value slot, then the decision word of k is
//     swapped to name it; then DOWN is sent. Every member, the leader too, takes decisions
//     from memory, in the order 1, 2, 3, ..., and returns them.
//   - When a leader has stopped, the next member leads. This heir knows what is in memory:
//     it learns each decision whose word is there, and enters all that is open, as if its
//     node had said nothing yet.
//   - Who waits for a node, or has asked it, says so again to its heir.
//
// Where things are, and what is lost with whom:
//
//	| what                                     | where                         | writer        |
//	| contributions                            | lines in the node's memory    | each member   |
//	| the node's contribution                  | nowhere: follows from lines   |               |
//	| who has contributed, who has asked       | the leader's process          | leader        |
//	| the decision of k                        | value and word in memory      | leader, once  |
//	| what is decided, who is agreed dead      | each member, from the words   | that member   |
//	| who has stopped                          | the list of the node          | its daemon    |
//
// # Why an heir does no harm
//
// The proof of package era rests on promises: an UP says "I take this decision from you
// alone", and is taken back only by closing you. Here a promise is the node's, and four rules
// keep it when the process that made it is gone:
//
//   - A28: a node's contribution is a function of its lines. Lines stay, and the heir has
//     read all of the list that the leader before it had read: so it finds the same lines.
//     Only the deaths reported beside them may be more, which Merge allows.
//   - A27: only the list of the node closes other nodes. A leader L sent UP to node Y
//     because all before Y in the tree were closed. They are closed for its heir H, too,
//     since it has read at least as much: if Y is not, Y is H's parent. A death that L alone
//     knows, by an agreement of another communicator, would not do: L binds its node to Z, and
//     dies; H believes that Y lives, and if Y is cut off and not yet frozen, H takes from
//     it what Z does not know.
//   - A26: the word is there before any DOWN leaves and anybody returns. So a decision that
//     somebody has from this node is the node's. Otherwise the heir would find no word,
//     and decide anew, or wait for a child that has decided and says nothing.
//   - A25: heirs are told again. What L had been told is lost; each who told it something
//     that is not answered learns that L has stopped, and tells H. H asks, as root, all
//     who have not contributed to it, as L might have been doing.
//
// A leader and its heir never both speak: L is on the same node, so its death is exact, and its
// stores are visible and its words were looked at before H says anything. Others may hear H before
// their lists have L's death. That H speaks shows it, and answers go to H from then on; it closes
// nobody, because H's own node might not know it by a list.
//
// Slots are used again as in package onenode, whose proof holds: a decision takes a line
// of each living member. Decisions are kept and forgotten by rule 8 as in era, with "decided
// here" meaning that the word is in memory.
//
// # What a host must do, and in which order
//
//   - All members of the communicator decide alike that it is made this way, and give the
//     same Nodes, ordered by least rank; those of one node share a memory, in which
//     member i is the i-th of the node. Its lines and values have room for all N members
//     (onenode.LongMax, onenode.ValueMax), and it is prepared as onenode.Memory says.
//   - At the beginning tell what the list of the node holds, by Listed and Left in the order
//     of the list, to its end. Then go on so for each entry. A death that is known
//     otherwise is told by Failed, also if the same one is in the list later: the two are
//     different news. A daemon has a death of its own node in its list before any other
//     node hears of it.
//   - In each turn first the list, to its end; then frames, as Receive; then Look, if the
//     memory may have moved. What is published wakes the leader, what is swapped wakes all:
//     Publish and Swap of the Memory see to that, as for one node.
//   - Carry the actions out in order. When a Step returns, the memory has what they follow
//     from, so it does not matter how far the owner comes. Send.To is a rank: the message
//     goes to that process and to no other, in the order of sending between two processes.
//     Frames of processes that are known to be dead may be dropped.
//   - At a Decide look at the lease of the node first: over means that it may be declared,
//     and nothing more is returned (F13). Then announce each death in it by Failed, then
//     answer the caller. That must come before anything else is proposed.
//   - Keep the Series until all members have decided to close the communicator: an heir may
//     be asked as long as somebody has not decided.
//   - Who leaves has sent what it had to send, and stores nothing after it is in a list.
//
// A member that has the agreement's number but never takes part, because it did not take
// the communicator up, is told as Left. That need not come by the list: nobody has heard
// of it in this series, and nobody will.
//
// # What is not promised
//
//   - What era does not promise, for nodes: if a node is lost with all its members, and
//     nobody else has its decision, the others may decide otherwise (A17). As long as one of
//     its members lives, all decide what any of them has returned, dead or not.
//   - Anything if a death on a living node was wrong. A node that is declared by the head
//     may run on for a while, if nothing that it returns then counts.
//   - Progress without a member that never proposes and never stops (A22). WaitsFor says
//     who that is.
//
// To read next: testdata/failure_free.txt, lead.go, testdata/leader_dies_before_word.txt,
// testdata/request_to_the_heir.txt.
package twolevel
