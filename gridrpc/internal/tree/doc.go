// Package tree has the rule by which agents form a tree, and repair the tree after deaths, also of
// several agents at once. Each agent knows its ancestors. An agent that loses its parent joins the
// nearest live ancestor, together with its whole subtree.
//
// The rule is the self-stabilising algorithm of Bouteiller and Desprez (Fault tolerance management
// for a hierarchical GridRPC middleware, 2008, section V), repaired in two places. First: in a
// chain R-C-B-A each agent knows two ancestors; C dies and B joins R. The list of B has no new
// entry after the first, so by the published rule B informs A of nothing. When B dies later, A
// knows only the dead C. Second: a late list of a former parent replaces a new one.
//
// # The rules
//
//   - T1 The tier of an incarnation is fixed: 0 for the root, as configured, or one more than that
//     of its first parent. An agent accepts only children of greater tiers. So there is no cycle,
//     for any messages.
//   - T2 A link is (child, parent, generation). A message of another generation changes nothing,
//     and is answered by Leave.
//   - T3 A list of ancestors replaces the whole earlier one. If the lists differ in any place, the
//     agent sends its list to all children.
//   - T4 An agent that has lost its parent probes all ancestors at once. Of those that answer, the
//     agent joins the nearest, once all nearer ones are declared dead, or after a short wait.
//   - T5 A join may take two seconds. After a refusal or the timeout the next ancestor is tried. An
//     agent without room names children of its own.
//   - T6 When no ancestor is left, the agent asks the oracle for the root, repeatedly. Each request
//     removes all processes from the list of the dead.
//   - T7 An agent that has lost its parent keeps its children. Its list of ancestors stays.
//   - T8 A parent drops a child that closes its link, is declared dead, or joins again.
//   - T9 A parent that an agent leaves, also after a wrong suspicion, gets Leave.
//   - T10 The nearest (f-1)/4 ancestors, rounded up, are observed. A declaration ends an
//     observation, and the next attachment begins a new observation.
//   - T11 Each root has a term greater than all earlier ones, and lists carry the term down. No
//     agent joins below a root with a lesser term than the greatest known. A deposed root closes
//     its links, and accepts no children any more.
//   - T12 An agent with another parent than the configured one checks every 10 s whether the
//     configured parent is back. The agent then joins the configured parent, and leaves the other.
//   - T13 Every event of a link carries the identity that the process at the other end stated in
//     its acceptance. Before, a configured parent is known by name only.
//
// # Not promised
//
// Balance: an orphan joins the first parent that accepts, not the parent with the most room.
package tree
