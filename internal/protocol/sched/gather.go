package sched

// binomialGather collects up a binomial tree: a rank sends its subtree's blocks as one message, in
// the order of the ranks from the root on. Blocks of one length only: a rank inside the tree does
// not know the lengths of other ranks.
func binomialGather(p *Plan, s *Shape) {
	v, m := s.rel(), s.Count
	parent := p.knomial(s, 2)
	switch {
	case parent == noParent:
		p.gatherRoot(s)
		return
	case len(p.kids) == 0:
		p.send(parent, in(0), m)
		return
	}
	tmp := p.alloc(below(s.N, v) * m)
	have := append(p.memo, p.copy(tmp, in(0), m))
	for _, kid := range p.kids {
		k := s.mod(kid - s.Root)
		have = append(have, p.recv(kid, tmp.plus((k-v)*m), below(s.N, k)*m))
	}
	p.send(parent, tmp, below(s.N, v)*m, have...)
	p.memo = have
}

func (p *Plan) gatherRoot(s *Shape) {
	mine, m := s.outBlock(s.Root)
	p.copy(mine, in(0), m)
	for _, kid := range p.kids {
		blocks := below(s.N, s.mod(kid-s.Root))
		at, _ := s.outBlock(kid)
		upper := min(blocks, s.N-kid) // the others belong to ranks 0, 1, ...
		if upper == blocks {
			p.recv(kid, at, blocks*m)
			continue
		}
		tmp := p.alloc(blocks * m)
		r := p.recv(kid, tmp, blocks*m)
		p.copy(at, tmp, upper*m, r)
		p.copy(out(0), tmp.plus(upper*m), (blocks-upper)*m, r)
	}
}

// binomialScatter is the reverse of binomialGather.
func binomialScatter(p *Plan, s *Shape) {
	v, m := s.rel(), s.Count
	parent := p.knomial(s, 2)
	switch {
	case parent == noParent:
		p.scatterRoot(s)
		return
	case len(p.kids) == 0:
		p.recv(parent, out(0), m)
		return
	}
	tmp := p.alloc(below(s.N, v) * m)
	r := p.recv(parent, tmp, below(s.N, v)*m)
	for _, kid := range p.kids {
		k := s.mod(kid - s.Root)
		p.send(kid, tmp.plus((k-v)*m), below(s.N, k)*m, r)
	}
	p.copy(out(0), tmp, m, r)
}

func (p *Plan) scatterRoot(s *Shape) {
	for _, kid := range p.kids {
		blocks := below(s.N, s.mod(kid-s.Root))
		at, m := s.inBlock(kid)
		upper := min(blocks, s.N-kid)
		if upper == blocks {
			p.send(kid, at, blocks*m)
			continue
		}
		tmp := p.alloc(blocks * m)
		high := p.copy(tmp, at, upper*m)
		low := p.copy(tmp.plus(upper*m), in(0), (blocks-upper)*m)
		p.send(kid, tmp, blocks*m, high, low)
	}
	mine, m := s.inBlock(s.Root)
	p.copy(out(0), mine, m)
}
