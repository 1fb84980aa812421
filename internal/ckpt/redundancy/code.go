package redundancy

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Code keeps parity instead of copies: the ranks are in groups, and each member of a
// group has, beside its own part, a share of the group's parity.
type Code struct {
	nodes  []int
	parity int // number requested
	groups []Group
	of     []int // of[r] is the group of rank r
}

// Group is a set of ranks that keep parity for each other. Any Parity of them may lose
// their memory.
type Group struct {
	Members []int // at most d+p
	Parity  int   // below len(Members)
}

// Stripe is the set of pieces that are coded together: one piece of the data of each of some
// members, and the pieces of parity of the group. All pieces of a stripe have one length.
//
//	d = 3, p = 2, members A..E: data (part number) and parity (P)
//	stripe   A  B  C  D  E
//	     0   P  P  0  1  2
//	     1   2  P  P  0  1
//	     2   1  2  P  P  0
//	     3   0  1  2  P  P
//	     4   P  0  1  2  P
//
// So each member's data are in d parts, and each member has p pieces of parity, its share.
type Stripe struct {
	Data   []int // Data[j] is the rank of which part j is in the stripe
	Parity []int // Parity[j] is the rank that keeps piece j of the parity
}

// Stripes returns the number of stripes of the group, which is the number of its members.
func (g Group) Stripes() int { return len(g.Members) }

// Parts returns the number of parts into which the data of a member are divided.
func (g Group) Parts() int { return len(g.Members) - g.Parity }

// Stripe returns stripe s.
func (g Group) Stripe(s int) Stripe {
	m := len(g.Members)
	var st Stripe
	for j := range g.Parity {
		st.Parity = append(st.Parity, g.Members[(s+j)%m])
	}
	for j := range g.Parts() {
		st.Data = append(st.Data, g.Members[(s+g.Parity+j)%m])
	}
	return st
}

// Erasure returns the layout with groups of d+p ranks on different nodes, any p of which may be
// lost; nodes[r] is the node of rank r. With few ranks or nodes the groups are smaller: d is
// reduced first, and p only if a group has fewer than p+1 ranks.
func Erasure(nodes []int, d, p int) Code {
	c := Code{nodes: nodes, parity: max(p, 0), of: make([]int, len(nodes))}
	count := c.countGroups(max(d, 1) + c.parity)
	c.groups = make([]Group, count)
	for i, r := range byNode(nodes) { // deals the ranks of one node to different groups
		g := &c.groups[i%count]
		g.Members = append(g.Members, r)
		c.of[r] = i % count
	}
	for i := range c.groups {
		slices.Sort(c.groups[i].Members)
		c.groups[i].Parity = min(c.parity, len(c.groups[i].Members)-1)
	}
	return c
}

// countGroups returns the number of groups. A node with b ranks requires b groups, so that no two
// of its ranks share one. The number is not increased for that if the groups became too small for
// their parity.
func (c Code) countGroups(size int) int {
	n, busiest := len(c.nodes), 0
	for _, ranks := range members(c.nodes) {
		busiest = max(busiest, len(ranks))
	}
	if n == 0 {
		return 0
	}
	return max((n+size-1)/size, min(busiest, n/(c.parity+1)), 1)
}

// Groups returns the groups. The slice is the layout's own.
func (c Code) Groups() []Group { return c.groups }

// GroupOf returns the index of the group of rank r.
func (c Code) GroupOf(r int) int { return c.of[r] }

// Size is as in Layout.
func (c Code) Size() int { return len(c.nodes) }

// Strength is as in Layout: the pieces of parity.
func (c Code) Strength() int { return c.parity }

// Recoverable is as in Layout: no group has lost more members than it has parity.
func (c Code) Recoverable(lost rankset.Set) bool {
	for _, g := range c.groups {
		gone := rankset.Of(g.Members...)
		gone.Intersect(lost)
		if gone.Len() > g.Parity {
			return false
		}
	}
	return true
}

// Weak is as in Layout: the members of groups that have two on one node, or less parity than
// requested.
func (c Code) Weak() rankset.Set {
	var weak rankset.Set
	for _, g := range c.groups {
		var on rankset.Set
		twice := false
		for _, r := range g.Members {
			twice = !on.Add(c.nodes[r]) || twice
		}
		if c.parity > 0 && (twice || g.Parity < c.parity) {
			weak.Union(rankset.Of(g.Members...))
		}
	}
	return weak
}
