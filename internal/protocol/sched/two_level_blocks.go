package sched

// The two-level algorithms for blocks. They serve blocks of one length: a leader does not know the
// lengths of other ranks. There is no two-level alltoall: a leader would sort the blocks of all its
// ranks for all ranks, and a plan, which has no copy with a stride, would need a step for each
// block.

// twoLevelGather collects the blocks of each node at its leader. The leader sends them to the root
// as one message.
func twoLevelGather(p *Plan, s *Shape) {
	t, m := p.byNode(s), s.Count
	switch {
	case s.Me == s.Root:
		for node, leader := range t.leaders {
			if node != t.mine {
				p.recvBlocks(leader, t.of(node), m)
			}
		}
		for _, mate := range t.mates() {
			if mate != s.Me {
				p.recv(mate, out(mate*m), m)
			}
		}
		p.copy(out(s.Me*m), in(0), m)
	case t.leads(s):
		own := p.alloc(len(t.mates()) * m)
		p.gatherInside(t, s, own)
		all := p.written()
		p.beginAll()
		p.send(s.Root, own, len(t.mates())*m, all)
	default:
		p.send(t.leader(), in(0), m)
	}
}

// gatherInside collects the blocks of a node at its leader, one behind the other, in a stage of its
// own.
func (p *Plan) gatherInside(t *teams, s *Shape, own Ref) {
	p.begin(stage{ranks: t.mates(), input: in(0), output: own, ready: none})
	inside := t.inside(s, s.Count)
	linearGather(p, &inside)
}

// recvBlocks receives the blocks of some ranks as one message, and copies each to its place in
// Output.
func (p *Plan) recvBlocks(from int, ranks []int, m int) {
	if neighbours(ranks) == len(ranks) {
		p.recv(from, out(ranks[0]*m), len(ranks)*m)
		return
	}
	tmp := p.alloc(len(ranks) * m)
	p.unpack(ranks, tmp, m, p.recv(from, tmp, len(ranks)*m))
}

// unpack copies blocks, which lie one behind the other, to their places in Output. The steps are in
// p.memo.
func (p *Plan) unpack(ranks []int, from Ref, m int, after int32) {
	p.memo = p.memo[:0]
	for len(ranks) > 0 {
		n := neighbours(ranks)
		p.memo = append(p.memo, p.copy(out(ranks[0]*m), from, n*m, after))
		ranks, from = ranks[n:], from.plus(n*m)
	}
}

// neighbours returns the number of consecutive ranks at the beginning of ranks.
func neighbours(ranks []int) int {
	n := 1
	for n < len(ranks) && ranks[n] == ranks[0]+n {
		n++
	}
	return n
}

// twoLevelScatter is the reverse of twoLevelGather.
func twoLevelScatter(p *Plan, s *Shape) {
	t, m := p.byNode(s), s.Count
	switch {
	case s.Me == s.Root:
		for node, leader := range t.leaders {
			if node != t.mine {
				p.sendBlocks(leader, t.of(node), m)
			}
		}
		for _, mate := range t.mates() {
			if mate != s.Me {
				p.send(mate, in(mate*m), m)
			}
		}
		p.copy(out(0), in(s.Me*m), m)
	case t.leads(s):
		own := p.alloc(len(t.mates()) * m)
		came := p.recv(s.Root, own, len(t.mates())*m)
		p.begin(stage{ranks: t.mates(), input: own, output: out(0), ready: came})
		inside := t.inside(s, m)
		linearScatter(p, &inside)
	default:
		p.recv(t.leader(), out(0), m)
	}
}

// sendBlocks sends the blocks of some ranks from Input as one message.
func (p *Plan) sendBlocks(to int, ranks []int, m int) {
	if neighbours(ranks) == len(ranks) {
		p.send(to, in(ranks[0]*m), len(ranks)*m)
		return
	}
	tmp := p.alloc(len(ranks) * m)
	p.memo = p.memo[:0]
	for rest, at := ranks, tmp; len(rest) > 0; {
		n := neighbours(rest)
		p.memo = append(p.memo, p.copy(at, in(rest[0]*m), n*m))
		rest, at = rest[n:], at.plus(n*m)
	}
	p.send(to, tmp, len(ranks)*m, p.memo...)
}

// twoLevelAllgather collects the blocks of each node at its leader; the leaders exchange the blocks
// by recursive doubling, and send all blocks down a binomial tree. Among leaders the blocks lie
// node by node: in Output itself if this is the order of the ranks.
func twoLevelAllgather(p *Plan, s *Shape) {
	t, m := p.byNode(s), s.Count
	total := part{0, s.N * m}
	if parent := p.insideTree(t, s); parent != noParent {
		p.bcastPart(parent, total, p.send(t.leader(), in(0), m)) // in place it overwrites sent elements
		return
	}
	all, sorted := out(0), neighbours(t.ranks) == s.N
	if !sorted {
		all = p.alloc(total.elems)
	}
	own := all.plus(t.starts[t.mine] * m)
	p.gatherInside(t, s, own)
	p.begin(stage{ranks: t.leaders, input: own, output: all, ready: p.written()})
	across := t.across(len(t.mates()) * m)
	across.Out = t.blocks(m)
	doublingAllgather(p, &across)
	if sorted && len(p.kids) == 0 {
		return
	}
	everything := p.written()
	p.beginAll()
	if !sorted {
		p.unpack(t.ranks, all, m, everything)
	}
	if len(p.kids) > 0 {
		if !sorted {
			everything = p.all(p.memo...)
		}
		p.bcastPart(noParent, total, everything)
	}
}
