// Package tree is the rule by which agents form a tree and mend it when some of them die,
// several at once. Each knows its ancestors; who loses its parent joins the nearest ancestor
// that lives, with all that is below it.
//
// It is the self-stabilising algorithm of Bouteiller and Desprez (Fault tolerance management
// for a hierarchical GridRPC middleware, 2008, section V), repaired. In a chain R-C-B-A of
// which each knows two ancestors, C dies and B joins R. There is nothing new in B's list
// after its first entry, so by the published rule B tells A nothing; when B dies later,
// A knows only the dead C. And a late list of a former parent replaces a new one.
//
// # The rules
//
//   - T1 A tier is fixed for an incarnation: 0 the root, else its first parent's and one, or
//     as configured. An agent accepts a child of a greater tier only: there is no cycle,
//     whatever anybody was told.
//   - T2 A link is (child, parent, generation). What comes from another generation changes
//     nothing, and is answered by Leave.
//   - T3 A list of ancestors replaces the one before as a whole; if it differs in any place,
//     all children are told.
//   - T4 Who has lost its parent probes all ancestors at once. It joins the nearest one that
//     answers, once all nearer ones are declared, or after a short wait.
//   - T5 A join has two seconds. Refused, or over: the next one. Who has no room names
//     children of its own.
//   - T6 Without an ancestor left, the oracle is asked for the root, for ever; each round
//     forgets who was held for dead.
//   - T7 Who has lost its parent keeps its children. Its ancestors stay listed.
//   - T8 A parent drops a child whose link closes, that is declared, or that joins anew.
//   - T9 A parent that is left, also by a wrong suspicion, gets Leave.
//   - T10 The nearest ancestors are observed: (f-1)/4 of them, rounded up. A declaration ends
//     an observation; the next attachment begins it again.
//   - T11 Each root has a term, greater than those before, which lists carry down. Nobody goes
//     back below a root of a lesser term than the one that it has heard of. A root that is
//     deposed closes its links, and takes nobody any more.
//   - T12 Away from its configured parent an agent looks every 10 s whether that one is
//     back, joins it, and leaves the other one then.
//   - T13 Every event of a link carries the identity that the process at the other end has
//     shown by accepting. A configured parent is known by name only before.
//
// # Not promised
//
// Balance: orphans join where they find a parent, not where there is most room.
package tree
