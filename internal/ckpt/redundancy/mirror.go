package redundancy

import "github.com/goulfm/goulfm/internal/base/rankset"

// Mirror keeps whole copies.
type Mirror struct {
	nodes   []int
	copies  int     // number requested
	keepers [][]int // keepers[r] have a copy of r's part; never r itself, none twice
}

// Alone returns the layout without any copies.
func Alone(nodes []int) Mirror {
	return Mirror{nodes: nodes, keepers: make([][]int, len(nodes))}
}

// Partners returns the layout with k copies of each part, on k other nodes if there are
// enough; nodes[r] is the node of rank r.
//
// With one copy the ranks form pairs that keep each other's part, and one triple if their number is
// odd. The two ranks of a pair are on different nodes unless a node has more than half of the
// ranks. Among an even number N of nodes with equally many ranks, two nodes lost at random cost
// data with probability 1/(N-1). In a ring, where each node keeps its neighbour's parts, it is
// 2/(N-1).
func Partners(nodes []int, k int) Mirror {
	m := Mirror{nodes: nodes, copies: max(k, 0), keepers: make([][]int, len(nodes))}
	switch {
	case m.copies == 1:
		m.pair()
	case m.copies > 1:
		m.spread()
	}
	return m
}

// Keepers returns the ranks that have a copy of rank r's part. The slice is the layout's own.
func (m Mirror) Keepers(r int) []int { return m.keepers[r] }

// KeptBy returns the ranks of which rank r has a copy.
func (m Mirror) KeptBy(r int) rankset.Set {
	var s rankset.Set
	for owner, keepers := range m.keepers {
		for _, k := range keepers {
			if k == r {
				s.Add(owner)
			}
		}
	}
	return s
}

// pair joins the rank at position i with the rank at i + n/2, in the order of nodes. These two are
// on one node only if that node has more than half of all ranks; then moveOut gives them other
// keepers. The order of the indices on the nodes would be wrong: for two nodes A and B with two
// ranks each it is A B A B, and each node would be paired with itself.
//
//	n = 6:  0 1 2 | 3 4 5    0-3 1-4 2-5
//	n = 7:  0 1 2 | 3 4 5 | 6    1-4 2-5, and the triple 0 -> 3 -> 6 -> 0
func (m Mirror) pair() {
	at := byNode(m.nodes)
	n := len(at)
	half := n / 2
	if half == 0 {
		return
	}
	for i := range half {
		m.keepers[at[i]] = []int{at[i+half]}
		m.keepers[at[i+half]] = []int{at[i]}
	}
	if n%2 == 1 {
		m.keepers[at[half]] = []int{at[n-1]}
		m.keepers[at[n-1]] = []int{at[0]}
	}
	m.moveOut(at)
}

// moveOut replaces each keeper that is on its rank's own node by a rank on another node, if there
// is any: of the ranks that keep the fewest parts, the first in the order of nodes.
//
//	nodes A A A A B B, as when B's neighbour was lost and A has its ranks, in the order of ranks:
//	pairs 0-3 1-4 2-5; 0 and 3 are both on A. 0 -> 4, 3 -> 5.
func (m Mirror) moveOut(at []int) {
	load := make([]int, len(m.nodes))
	for _, keepers := range m.keepers {
		load[keepers[0]]++
	}
	for _, r := range at {
		old, best := m.keepers[r][0], -1
		if m.nodes[old] != m.nodes[r] {
			continue
		}
		for _, k := range at {
			if m.nodes[k] != m.nodes[r] && (best < 0 || load[k] < load[best]) {
				best = k
			}
		}
		if best < 0 {
			return // all are on one node
		}
		m.keepers[r][0] = best
		load[old]--
		load[best]++
	}
}

// spread gives each rank a keeper on each of the next nodes. Once the nodes are used up, further
// keepers may be anywhere.
func (m Mirror) spread() {
	nodes := members(m.nodes)
	for a, here := range nodes {
		for index, r := range here {
			for j := 1; j < len(nodes) && len(m.keepers[r]) < m.copies; j++ {
				there := nodes[(a+j)%len(nodes)]
				m.keepers[r] = append(m.keepers[r], there[index%len(there)])
			}
			m.fill(r)
		}
	}
}

// fill adds keepers to r, on any nodes, until r has the number requested.
func (m Mirror) fill(r int) {
	used := rankset.Of(append([]int{r}, m.keepers[r]...)...)
	for step := 1; step < len(m.nodes) && len(m.keepers[r]) < m.copies; step++ {
		if k := (r + step) % len(m.nodes); used.Add(k) {
			m.keepers[r] = append(m.keepers[r], k)
		}
	}
}

// Size is as in Layout.
func (m Mirror) Size() int { return len(m.nodes) }

// Strength is as in Layout: the number of copies.
func (m Mirror) Strength() int { return m.copies }

// Recoverable is as in Layout: each lost part has a keeper that is not lost.
func (m Mirror) Recoverable(lost rankset.Set) bool {
	for r := lost.Next(0); r >= 0 && r < m.Size(); r = lost.Next(r + 1) {
		if rankset.Of(m.keepers[r]...).SubsetOf(lost) {
			return false
		}
	}
	return true
}

// Weak is as in Layout.
func (m Mirror) Weak() rankset.Set {
	var weak rankset.Set
	for r, keepers := range m.keepers {
		on := rankset.Of(m.nodes[r])
		for _, k := range keepers {
			on.Add(m.nodes[k])
		}
		if on.Len() <= m.copies {
			weak.Add(r)
		}
	}
	return weak
}
