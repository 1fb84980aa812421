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
	// Strength is how many nodes may be lost at once, if no rank is weak.
	Strength() int
	// Recoverable says whether the part of every rank can be had, the memory of the
	// ranks in lost being gone and all else complete.
	Recoverable(lost rankset.Set) bool
	// Weak returns the ranks whose part does not survive every loss of Strength() nodes,
	// because there are too few nodes.
	Weak() rankset.Set

	restore(p *planner)
	complete(p *completer)
}

// OnNodes returns the ranks that are on one of the given nodes; nodes[r] is that of rank r.
func OnNodes(nodes []int, which rankset.Set) rankset.Set {
	var s rankset.Set
	for r, node := range nodes {
		if which.Has(node) {
			s.Add(r)
		}
	}
	return s
}

// byNode returns the ranks, those of one node next to each other, in the order of ranks.
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
