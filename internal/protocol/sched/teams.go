package sched

import "slices"

// teams are the ranks of a shape by node. The two-level algorithms work inside each node, where
// messages are cheap, and among the leaders of the nodes, so that as few messages as possible pass
// from node to node (Karonis et al., IPDPS 2000).
type teams struct {
	// ranks are all ranks, node by node, in the order of the nodes' lowest ranks. The ranks of node
	// i are ranks[starts[i]:starts[i+1]], in their order.
	ranks, starts []int
	leaders       []int // by node: the root on its own node, else the lowest rank
	mine, roots   int   // the nodes of this rank and of the root

	nodes          []int       // by rank: the number of its node
	numbers        map[int]int // by node number of the shape: the number of the node here
	next           []int       // by node: the place in ranks of its next rank
	counts, displs []int       // see blocks
}

// byNode finds the teams of s. They belong to p and are valid until the next call.
func (p *Plan) byNode(s *Shape) *teams {
	t := &p.teams
	t.number(s)
	t.ranks, t.next = resize(t.ranks, s.N), append(t.next[:0], t.starts...)
	for r, node := range t.nodes {
		t.ranks[t.next[node]] = r
		t.next[node]++
	}
	t.mine, t.roots = t.nodes[s.Me], t.nodes[s.Root]
	t.leaders[t.roots] = s.Root
	return t
}

// number numbers the nodes in the order of their lowest ranks, and counts their ranks.
func (t *teams) number(s *Shape) {
	if t.numbers == nil {
		t.numbers = map[int]int{}
	}
	clear(t.numbers)
	t.nodes, t.leaders, t.starts = resize(t.nodes, s.N), t.leaders[:0], append(t.starts[:0], 0)
	for r := range t.nodes {
		node, known := t.numbers[s.node(r)]
		if !known {
			node = len(t.leaders)
			t.numbers[s.node(r)] = node
			t.leaders, t.starts = append(t.leaders, r), append(t.starts, 0)
		}
		t.nodes[r] = node
		t.starts[node+1]++
	}
	for node := range t.leaders {
		t.starts[node+1] += t.starts[node]
	}
}

// of returns the ranks of a node, mates the ranks of this rank's node.
func (t *teams) of(node int) []int { return t.ranks[t.starts[node]:t.starts[node+1]] }
func (t *teams) mates() []int      { return t.of(t.mine) }

func (t *teams) leader() int         { return t.leaders[t.mine] }
func (t *teams) leads(s *Shape) bool { return t.leader() == s.Me }

// inside is the shape of a collective of count elements on this rank's node; its root
// is the leader.
func (t *teams) inside(s *Shape, count int) Shape {
	mates := t.mates()
	return Shape{N: len(mates), Me: slices.Index(mates, s.Me), Root: slices.Index(mates, t.leader()), Count: count}
}

// across is the shape of a collective among the leaders.
func (t *teams) across(count int) Shape {
	return Shape{N: len(t.leaders), Me: t.mine, Root: t.roots, Count: count}
}

// blocks returns the blocks of the nodes, one behind the other, of m elements for each rank.
func (t *teams) blocks(m int) Blocks {
	t.counts, t.displs = t.counts[:0], t.displs[:0]
	for node := range t.leaders {
		t.counts, t.displs = append(t.counts, len(t.of(node))*m), append(t.displs, t.starts[node]*m)
	}
	return Blocks{Counts: t.counts, Displs: t.displs}
}

// insideTree makes p.kids the children of this rank in a binomial tree of its node.
func (p *Plan) insideTree(t *teams, s *Shape) (parent int) {
	p.kids = p.kids[:0]
	return p.addBranch(t.mates(), t.inside(s, 0))
}

// addBranch adds this rank's children in a binomial tree of some ranks, whose shape is s.
func (p *Plan) addBranch(ranks []int, s Shape) (parent int) {
	from := len(p.kids)
	parent = p.addKnomial(&s, 2)
	for i, kid := range p.kids[from:] {
		p.kids[from+i] = ranks[kid]
	}
	if parent != noParent {
		parent = ranks[parent]
	}
	return parent
}
