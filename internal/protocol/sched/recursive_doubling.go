package sched

// doublingAllreduce is recursive doubling: after step k each core rank has the combination of its
// aligned group of 2^(k+1), in order. All ranks of a group use the same brackets and have the same
// bits. Ranks beyond a power of two are folded (Thakur, Rabenseifner, Gropp 2005, section 4.5).
func doublingAllreduce(p *Plan, s *Shape) {
	f := foldOf(s.N, s.Me, 0)
	if f.v < 0 {
		handed := p.send(f.partner, in(0), s.Count)
		p.recv(f.partner, out(0), s.Count, handed) // in place both buffers are the same memory
		return
	}
	slots := p.slots(min(s.N-1, 2), s.Count)
	have, last, older := in(0), none, none
	if f.partner >= 0 {
		r := p.recv(f.partner, slots[1], s.Count)
		last = p.reduce(out(0), have, slots[1], s.Count, r)
		have = out(0)
	}
	for turn, d := 0, 1; d < f.size; turn, d = turn+1, d<<1 {
		peer, slot := f.rank(f.v^d), slots[turn%2]
		sent := p.send(peer, have, s.Count, last)
		r := p.recv(peer, slot, s.Count, older)
		left, right := have, slot
		if f.v&d != 0 {
			left, right = slot, have
		}
		older, last = last, p.reduce(out(0), left, right, s.Count, r, sent)
		have = out(0)
	}
	if f.partner >= 0 {
		p.send(f.partner, have, s.Count, last)
	}
	if s.N == 1 {
		p.copy(out(0), have, s.Count)
	}
}

// doublingAllgather doubles the blocks of each core rank in each step. Out must be packed at all
// ranks.
func doublingAllgather(p *Plan, s *Shape) {
	f := foldOf(s.N, s.Me, 0)
	mine, elems := s.outBlock(s.Me)
	if f.v < 0 {
		handed := p.send(f.partner, in(0), elems)
		all, total := s.outSpan(0, s.N)
		p.recv(f.partner, all, total, handed) // includes our own block, which in place is overwritten
		return
	}
	have := append(p.memo, p.copy(mine, in(0), elems))
	if f.partner >= 0 {
		at, elems := s.outBlock(f.partner)
		have = append(have, p.recv(f.partner, at, elems))
	}
	for d := 1; d < f.size; d <<= 1 {
		ours := f.v &^ (d - 1)
		theirs := ours ^ d
		at, elems := s.outSpan(f.first(ours), f.first(ours+d))
		p.send(f.rank(f.v^d), at, elems, have...)
		at, elems = s.outSpan(f.first(theirs), f.first(theirs+d))
		have = append(have, p.recv(f.rank(f.v^d), at, elems))
	}
	if f.partner >= 0 {
		all, total := s.outSpan(0, s.N)
		p.send(f.partner, all, total, have...)
	}
	p.memo = have
}
