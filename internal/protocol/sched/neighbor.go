package sched

// The neighbourhood verbs follow the edges of a graph: each rank sends to its Dests and receives
// from its Sources, all at once. If there are several edges from one rank to another, the k-th edge
// of the sender is the k-th edge of the receiver.

func neighborAllgather(p *Plan, s *Shape) {
	p.alongEdges(s, func(int) (Ref, int) { return in(0), s.Count })
}

func neighborAlltoall(p *Plan, s *Shape) { p.alongEdges(s, s.inBlock) }

func (p *Plan) alongEdges(s *Shape, to func(i int) (Ref, int)) {
	for k := range s.Sources {
		i := s.arrival(k)
		if from := s.Sources[i]; from != s.Me && from >= 0 {
			at, elems := s.outBlock(i)
			p.recv(from, at, elems)
		}
	}
	self := 0 // Sources before this index have been searched for edges to itself
	for i, peer := range s.Dests {
		at, elems := to(i)
		if peer != s.Me {
			if peer >= 0 {
				p.send(peer, at, elems)
			}
			continue
		}
		for self < len(s.Sources) && s.Sources[s.arrival(self)] != s.Me {
			self++
		}
		if self < len(s.Sources) {
			dst, _ := s.outBlock(s.arrival(self))
			p.copy(dst, at, elems)
			self++
		}
	}
}

// arrival returns the place in Sources of the k-th edge to be received.
func (s *Shape) arrival(k int) int {
	if s.Arrivals == nil {
		return k
	}
	return s.Arrivals[k]
}
