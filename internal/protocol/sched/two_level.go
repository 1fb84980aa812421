package sched

// twoLevelTree is a binomial tree of the leaders, with a binomial tree of each node below its
// leader: a vector is sent once to each node. A leader serves the other nodes first, because most
// ranks are below them.
func (p *Plan) twoLevelTree(s *Shape) (parent int) {
	t := p.byNode(s)
	parent, p.kids = noParent, p.kids[:0]
	if t.leads(s) {
		parent = p.addBranch(t.leaders, t.across(0))
	}
	if above := p.addBranch(t.mates(), t.inside(s, 0)); above != noParent {
		parent = above
	}
	return parent
}

func twoLevelBcast(p *Plan, s *Shape)  { p.bcastTree(s, p.twoLevelTree(s)) }
func twoLevelReduce(p *Plan, s *Shape) { p.reduceTree(s, p.twoLevelTree(s)) }

// twoLevelBarrier collects the ranks of each node up a binomial tree, synchronizes the leaders by
// dissemination, and releases all ranks down the trees.
func twoLevelBarrier(p *Plan, s *Shape) {
	t := p.byNode(s)
	parent := p.insideTree(t, s)
	for _, kid := range p.kids {
		p.memo = append(p.memo, p.recv(kid, out(0), 0))
	}
	here := p.all(p.memo...)
	if parent != noParent {
		p.send(parent, in(0), 0, here)
		p.bcastPart(parent, part{})
		return
	}
	p.begin(stage{ranks: t.leaders, input: in(0), output: out(0), ready: here})
	across := t.across(0)
	dissemination(p, &across)
	if len(p.kids) > 0 {
		p.memo = append(p.memo, here)
		everywhere := p.all(p.memo...)
		p.beginAll()
		p.bcastPart(noParent, part{}, everywhere)
	}
}

// twoLevelAllreduce reduces to the leader of each node, up a binomial tree; the leaders combine
// their results by recursive doubling, and send the result down again. Commutative only, because
// the ranks of a node need not be neighbours.
func twoLevelAllreduce(p *Plan, s *Shape) {
	t, all := p.byNode(s), part{0, s.Count}
	leaders := stage{ranks: t.leaders, input: in(0), output: out(0), ready: none}
	parent := p.insideTree(t, s)
	if len(t.mates()) > 1 {
		inside := t.inside(s, s.Count)
		p.reduceTree(&inside, parent)
		leaders.input, leaders.ready = out(0), p.newest()
	}
	if parent != noParent {
		p.bcastPart(parent, all, p.newest()) // in place it overwrites sent elements
		return
	}
	p.begin(leaders)
	across := t.across(s.Count)
	doublingAllreduce(p, &across)
	if len(p.kids) > 0 {
		combined := p.written()
		p.beginAll()
		p.bcastPart(noParent, all, combined)
	}
}
