package redundancy

import (
	"cmp"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Layout is a Mirror or a Code, over the ranks 0 to Size()-1 of one world.
type Layout interface {
	// Size is the number of ranks.
	Size() int
	// Strength is the number of nodes that may be lost at once, if no rank is weak.
	Strength() int
	// Recoverable reports whether the part of every rank can be restored when the memory of
	// the ranks in lost is gone and all other memory is complete.
	Recoverable(lost rankset.Set) bool
	// Weak returns the ranks whose part may not survive every loss of Strength() nodes, because
	// there are too few nodes. A Mirror names exactly these ranks, a Code all members of their
	// groups.
	Weak() rankset.Set

	restore(p *planner)
	complete(p *completer)
}

// OnNodes returns the ranks on the given nodes; nodes[r] is the node of rank r.
func OnNodes(nodes []int, which rankset.Set) rankset.Set {
	var s rankset.Set
	for r, node := range nodes {
		if which.Has(node) {
			s.Add(r)
		}
	}
	return s
}

// byNode returns the ranks in the order of their nodes; ranks of one node are in ascending order.
func byNode(nodes []int) []int {
	ranks := make([]int, len(nodes))
	for r := range ranks {
		ranks[r] = r
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(nodes[a], nodes[b]) })
	return ranks
}

// members returns the ranks of each node, nodes in ascending order.
func members(nodes []int) [][]int {
	var all [][]int
	last := -1
	for _, r := range byNode(nodes) {
		if len(all) == 0 || nodes[r] != last {
			all = append(all, nil)
			last = nodes[r]
		}
		all[len(all)-1] = append(all[len(all)-1], r)
	}
	return all
}
