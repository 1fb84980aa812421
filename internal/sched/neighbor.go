package sched

// The neighbourhood verbs follow the edges of a graph: each rank sends to its
// Dests and receives from its Sources, all at once. If there are several edges
// from one rank to another, the k-th there is the k-th here.

func neighborAllgather(p *Plan, s *Shape) {
	p.alongEdges(s, func(int) (Ref, int) { return in(0), s.Count })
}

func neighborAlltoall(p *Plan, s *Shape) { p.alongEdges(s, s.inBlock) }

func (p *Plan) alongEdges(s *Shape, to func(i int) (Ref, int)) {
	for i, from := range s.Sources {
		if from != s.Me {
			at, elems := s.outBlock(i)
			p.recv(from, at, elems)
		}
	}
	self := 0 // how many edges to itself have been seen among Sources
	for i, peer := range s.Dests {
		at, elems := to(i)
		if peer != s.Me {
			p.send(peer, at, elems)
			continue
		}
		for self < len(s.Sources) && s.Sources[self] != s.Me {
			self++
		}
		if self < len(s.Sources) {
			dst, _ := s.outBlock(self)
			p.copy(dst, at, elems)
			self++
		}
	}
}
