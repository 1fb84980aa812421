package sched

// bruckAllgather (Bruck et al. 1997) doubles the blocks of a rank in each round, for any number of
// ranks. Scratch holds the blocks from the rank's own on; at the end they are rotated into place.
// Out must be packed.
func bruckAllgather(p *Plan, s *Shape) {
	_, total := s.outSpan(0, s.N)
	tmp := p.alloc(total)
	// at returns the offset of the block of the k-th rank up.
	at := func(k int) int {
		if s.Me+k < s.N {
			_, elems := s.outSpan(s.Me, s.Me+k)
			return elems
		}
		_, upper := s.outSpan(s.Me, s.N)
		_, lower := s.outSpan(0, s.Me+k-s.N)
		return upper + lower
	}
	// After the copy and k rounds the first 2^k blocks are here.
	have := append(p.memo, p.copy(tmp, in(0), at(1)))
	for d := 1; d < s.N; d <<= 1 {
		blocks := min(d, s.N-d)
		p.send(s.mod(s.Me-d), tmp, at(blocks), have[:1+doubled(blocks)]...)
		have = append(have, p.recv(s.mod(s.Me+d), tmp.plus(at(d)), at(d+blocks)-at(d)))
	}
	upper, high := s.outSpan(s.Me, s.N)
	p.copy(upper, tmp, high, have[:1+doubled(s.N-s.Me)]...)
	if s.Me > 0 {
		lower, low := s.outSpan(0, s.Me)
		p.copy(lower, tmp.plus(high), low, have[doubled(s.N-s.Me+1):]...)
	}
	p.memo = have
}

// bruckAlltoall sends log2 n messages of half of all blocks instead of n-1 messages of one block:
// in round k all blocks move 2^k up that have bit k set in their remaining distance. Blocks of one
// length only.
func bruckAlltoall(p *Plan, s *Shape) {
	m := s.Count
	// Block k of tmp is destined for the k-th rank up. At the end, block k has come from the k-th
	// rank down.
	tmp := p.alloc(s.N * m)
	done := p.turn(s, tmp)
	room := bruckMost(s.N) * m
	leaving, coming := p.alloc(room), p.alloc(room)
	free := none // the step after which coming may be written
	for d := 1; d < s.N; d <<= 1 {
		blocks, packed := 0, p.memo[:0]
		for k := d; k < s.N; k += 2 * d { // blocks k to k+d-1 have the bit
			run := min(d, s.N-k)
			packed = append(packed, p.copy(leaving.plus(blocks*m), tmp.plus(k*m), run*m, done))
			blocks += run
		}
		sent := p.send(s.mod(s.Me+d), leaving, blocks*m, packed...)
		came := p.recv(s.mod(s.Me-d), coming, blocks*m, free)
		blocks, unpacked := 0, packed[:0]
		for k := d; k < s.N; k += 2 * d {
			run := min(d, s.N-k)
			unpacked = append(unpacked, p.copy(tmp.plus(k*m), coming.plus(blocks*m), run*m, came, sent))
			blocks += run
		}
		done = p.join(unpacked...)
		free, p.memo = done, unpacked
	}
	for k := range s.N {
		at, _ := s.outBlock(s.mod(s.Me - k))
		p.copy(at, tmp.plus(k*m), m, done)
	}
}

// turn copies Input to tmp so that this rank's own block comes first.
func (p *Plan) turn(s *Shape, tmp Ref) int32 {
	upper, high := s.inSpan(s.Me, s.N)
	did := p.copy(tmp, upper, high)
	if s.Me == 0 {
		return did
	}
	lower, low := s.inSpan(0, s.Me)
	return p.join(did, p.copy(tmp.plus(high), lower, low))
}

// bruckMost returns the number of blocks in the largest message.
func bruckMost(n int) int {
	most := 0
	for d := 1; d < n; d <<= 1 {
		most = max(most, n/(2*d)*d+max(0, n%(2*d)-d))
	}
	return most
}
