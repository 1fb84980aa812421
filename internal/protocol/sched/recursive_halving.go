package sched

// halvingReduceScatter is recursive halving: in each step a core rank sends its peer the half of
// the blocks on the peer's side, and combines and keeps the other half. The first peer is the
// farthest, so that halves are contiguous. The combined groups of ranks are not contiguous:
// commutative only. In must be packed.
func halvingReduceScatter(p *Plan, s *Shape) {
	f := foldOf(s.N, s.Me, 0)
	own, mine := s.inBlock(s.Me)
	all, total := s.inSpan(0, s.N)
	switch {
	case s.N == 1:
		p.copy(out(0), own, mine)
		return
	case f.v < 0:
		p.send(f.partner, all, total)
		p.recv(f.partner, out(0), mine)
		return
	}
	acc, have, last := p.alloc(total), all, none
	if f.partner >= 0 {
		slot := p.alloc(total)
		r := p.recv(f.partner, slot, total)
		last = p.reduce(acc, have, slot, total, r)
		have = acc
	}
	for lo, d := 0, f.size/2; d >= 1; d >>= 1 {
		give := lo + d // the core ranks [give, give+d)
		if f.v&d != 0 {
			give, lo = lo, lo+d
		}
		peer := f.rank(f.v ^ d)
		at, elems := s.inSpan(f.first(give), f.first(give+d))
		p.send(peer, have.plus(at.Off-all.Off), elems, last)
		at, elems = s.inSpan(f.first(lo), f.first(lo+d))
		kept, slot := at.Off-all.Off, p.alloc(elems)
		r := p.recv(peer, slot, elems)
		last = p.reduce(acc.plus(kept), have.plus(kept), slot, elems, r, last)
		have = acc
	}
	p.copy(out(0), acc.plus(own.Off-all.Off), mine, last)
	if f.partner >= 0 {
		at, elems := s.inBlock(f.partner)
		p.send(f.partner, acc.plus(at.Off-all.Off), elems, last)
	}
}
