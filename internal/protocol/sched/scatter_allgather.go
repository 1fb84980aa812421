package sched

// scatterAllgather is van de Geijn's broadcast of long vectors: piece v of n is sent to the v-th
// rank from the root down a binomial tree, then all pieces are passed round a ring. No rank is sent
// a piece that it has from the scatter; the root receives nothing.
func scatterAllgather(p *Plan, s *Shape) {
	v := s.rel()
	first := p.scatterPieces(s, v)
	left, right := s.mod(s.Me-1), s.mod(s.Me+1)
	last := first
	for t := range s.N - 1 {
		if piece := s.mod(v - t); !hasPiece(s.N, s.mod(v+1), piece) {
			seg := cut(s.Count, s.N, piece)
			p.send(right, out(seg.off), seg.elems, pick(hasPiece(s.N, v, piece), first, last))
		}
		if piece := s.mod(v - 1 - t); !hasPiece(s.N, v, piece) {
			seg := cut(s.Count, s.N, piece)
			last = p.recv(left, out(seg.off), seg.elems)
		}
	}
}

// scatterPieces sends rank v its own piece and the pieces of all ranks below v.
func (p *Plan) scatterPieces(s *Shape, v int) (got int32) {
	got = none
	if parent := p.knomial(s, 2); parent != noParent {
		seg := cuts(s.Count, s.N, v, v+below(s.N, v))
		got = p.recv(parent, out(seg.off), seg.elems)
	}
	for _, kid := range p.kids {
		k := s.mod(kid - s.Root)
		seg := cuts(s.Count, s.N, k, k+below(s.N, k))
		p.send(kid, out(seg.off), seg.elems, got)
	}
	return got
}

// hasPiece reports whether rank v has a piece after the scatter.
func hasPiece(n, v, piece int) bool { return v <= piece && piece < v+below(n, v) }

func pick(cond bool, yes, no int32) int32 {
	if cond {
		return yes
	}
	return no
}
