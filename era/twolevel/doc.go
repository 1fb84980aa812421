// Package twolevel is the agreement among the members of several nodes: those of a node meet
// in its memory, and the nodes agree by messages.
//
// The package gives the promises of package era, and uses its messages between nodes: an era.Series
// with nodes as participants (era.Config.Teams). The contributions of members and the decisions of
// a node are stored in memory as in package onenode. Rules are cited by number: A1-A28 and R1-R68
// are explained in docs/SEMANTICS.md.
//
// Like package era, this package is here to be read, not to be imported. Package
// internal/protocol/commstate hosts a Series for communicators with several members on one node;
// goulfm run --agree era uses package era alone for all agreements.
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
// With m nodes there are 2(m-1) messages, however many members the nodes have, and only the leader
// of a node sends or receives. testdata/failure_free.txt is this walk.
//
// # The algorithm
//
//   - A member enters agreement k by publishing its line, once; no process changes a line.
//   - A node's leader is its least member that has neither died nor left, by the list of the node.
//     When each member of the node has a line of k or has stopped, the leader enters k in the
//     agreement of the nodes with the merged lines.
//   - The leader stores that decision in its value slot, swaps the decision word of k to name the
//     slot, and then sends DOWN. Every member, the leader too, takes decisions from memory, in the
//     order 1, 2, 3, ..., and returns them.
//   - When a leader has stopped, the next member leads. This heir knows the contents of the memory:
//     it learns each decision with its word there, and enters all open agreements, as if its node
//     had sent nothing yet.
//   - A member that waits for a node, or has asked it, repeats its message to the heir of the node.
//
// Places of the data, and their writers. Data is lost if its place dies:
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
// The proof of package era rests on promises: an UP means "I take this decision from you alone",
// and is revoked only by closing the other side. Here a promise is made by a node, and four rules
// keep the promise after the death of the process that made it:
//
//   - A28: a node's contribution is a function of its lines. Lines stay, and the heir has
//     read all of the list that the leader before it had read: so it finds the same lines.
//     Only the deaths reported beside them may be more, which Merge allows.
//   - A27: only the list of the node closes other nodes. A leader L sent UP to node Y because all
//     before Y in the tree were closed. They are closed for its heir H, too, since it has read at
//     least as much: if Y is not, Y is H's parent. A death that L alone knows, by an agreement of
//     another communicator, would not do: L binds its node to Z, and dies; H believes that Y lives,
//     and if Y is cut off and not yet frozen, H accepts a decision from Y that Z does not know.
//   - A26: the word is there before any DOWN leaves and anybody returns. So any decision received
//     from this node is the node's. Otherwise the heir would find no word, and decide anew, or wait
//     for a child that has decided and sends nothing.
//   - A25: messages are repeated to heirs. Messages that L had received are lost; each sender of an
//     unanswered one learns that L has stopped, and sends again, to H. As root, H asks all members
//     that have not contributed to it, as L might have been doing.
//
// A leader and its heir never both send: L is on the same node, so its death is exact, and its
// stores are visible and its words were read before H sends anything. Others may receive a message
// of H before their lists have L's death. The message proves the death, and answers are sent to H
// from then on; but the message closes no rank, because H's own node might not know of the death by
// a list.
//
// Slots are used again as in package onenode, and the proof there holds: a decision takes a line of
// each living member. Decisions are kept and forgotten by rule 8 as in era, with "decided here"
// meaning that the word is in memory.
//
// # What a host must do, and in which order
//
//   - All members of the communicator choose this kind of agreement alike, and give the same Nodes,
//     ordered by least rank; those of one node share a memory, in which member i is the i-th of the
//     node. The lines and values have room for all N members (onenode.LongMax, onenode.ValueMax),
//     and the memory is prepared as onenode.Memory requires.
//   - At the beginning report the list of the node, by Listed and Left in the order of the list, to
//     its end. Then continue for each new entry. Report a death that is known from another source
//     by Failed, even if the list has the same death later: the two are different news. A daemon
//     has a death of its own node in its list before any other node learns of the death.
//   - In each turn first report the list, to its end; then frames, as Receive; then Look, if the
//     memory may have changed. Publish of the Memory wakes the leader, Swap wakes all members, as
//     for one node.
//   - Execute the actions in order. When a Step returns, the memory holds the state from which they
//     follow, so the owner may die between any two of them. Send.To is a rank: the message is sent
//     to that process and to no other, in the order of sending between two processes. Frames of
//     processes that are known to be dead may be dropped.
//   - At a Decide first check the lease of the node: after its end the node may be declared, and
//     nothing more is returned (F13). Then announce each death in the Value by Failed, then answer
//     the caller, all before the next Propose.
//   - Keep the Series until all members have decided to close the communicator: an heir may be
//     asked as long as some member has not decided.
//   - A member leaves only after all its messages are sent, and stores nothing after a list has its
//     departure.
//
// A member that has the agreement's number but never takes part, because it did not take the
// communicator up, is reported as Left. This Left need not follow the list: no member has received
// a message from that one in this series, and none will.
//
// # What is not promised
//
//   - Agreement with the dead, as in era, but for nodes: if a node is lost with all its members,
//     and no other member has its decision, the others may decide otherwise (A17). As long as one
//     of its members lives, all decide the same as any of them has returned, dead or not.
//   - Anything if a death on a living node was wrong. A node that is declared by the coordinator
//     may run on for a while, if none of its later results counts.
//   - Progress without a member that never proposes and never stops (A22). WaitsFor names that
//     member.
//
// To read next: testdata/failure_free.txt, lead.go, testdata/leader_dies_before_word.txt,
// testdata/request_to_the_heir.txt.
package twolevel
