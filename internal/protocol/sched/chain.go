package sched

// chain is the tree in which each rank has one child, the next one up from the root. The chain is
// slow for one message and the fastest algorithm for very many segments: every rank sends and
// receives each element once.
func (p *Plan) chain(s *Shape) (parent int) {
	v := s.rel()
	p.kids = p.kids[:0]
	if v+1 < s.N {
		p.kids = append(p.kids, s.abs(v+1))
	}
	if v == 0 {
		return noParent
	}
	return s.abs(v - 1)
}

func chainBcast(p *Plan, s *Shape)  { p.bcastTree(s, p.chain(s)) }
func chainReduce(p *Plan, s *Shape) { p.reduceTree(s, p.chain(s)) }
