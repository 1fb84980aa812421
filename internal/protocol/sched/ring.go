package sched

// ringAllreduce sends n pieces of the vector round the ring twice: first to be
// combined, each ending at the rank before the one where it started, then to be
// copied. Every element is sent twice by each rank, to one neighbour only. The
// brackets differ from piece to piece and run round the ring, so the operation
// must be commutative. With Segment each piece goes in several messages, and the
// next one travels while this one is combined.
func ringAllreduce(p *Plan, s *Shape) {
	if s.N == 1 {
		p.copy(out(0), in(0), s.Count)
		return
	}
	r := ring{p: p, s: s, left: s.mod(s.Me - 1), right: s.mod(s.Me + 1)}
	longest := cut(s.Count, s.N, 0).elems
	r.longest, r.segments = longest, s.segments(longest)
	r.slots = p.slots(min(s.N-1, 2), longest)
	for t := range s.N - 1 {
		for j := range r.segments {
			r.combine(t, j)
		}
	}
	for t := range s.N - 1 {
		for j := range r.segments {
			r.pass(t, j)
		}
	}
}

// ring remembers in p.memo the steps of round t and segment j, two each: what
// was sent, and what completed the piece that came.
type ring struct {
	p           *Plan
	s           *Shape
	left, right int
	longest     int // elements of the longest piece
	segments    int // of each piece
	slots       [2]Ref
}

// part is segment j of the piece.
func (r *ring) part(piece, j int) part {
	whole := cut(r.s.Count, r.s.N, r.s.mod(piece))
	seg := cut(whole.elems, r.segments, j)
	return part{whole.off + seg.off, seg.elems}
}

// slot is where segment j of round t arrives: where it would lie in the longest
// piece. Where it lies in its own is not good enough. Cut into 6 segments, a
// piece of 23 has its fifth at 16 to 19 and a piece of 22 its sixth at 19 to 21;
// the sixth would arrive while the fifth of two rounds before is still there, as
// it waits for the sixth of that round alone.
func (r *ring) slot(t, j int) Ref {
	return r.slots[t%2].plus(cut(r.longest, r.segments, j).off)
}

func (r *ring) sent(t, j int) int32 { return r.p.memo[2*(t*r.segments+j)] }

func (r *ring) got(t, j int) int32 {
	if t < 0 {
		return none
	}
	return r.p.memo[2*(t*r.segments+j)+1]
}

// combine is round t of the first half: piece Me-t leaves, piece Me-t-1 comes
// and is combined with this rank's own.
func (r *ring) combine(t, j int) {
	seg := r.part(r.s.Me-t, j)
	from := out(seg.off)
	if t == 0 {
		from = in(seg.off)
	}
	sent := r.p.send(r.right, from, seg.elems, r.got(t-1, j))
	seg = r.part(r.s.Me-t-1, j)
	slot := r.slot(t, j)
	came := r.p.recv(r.left, slot, seg.elems, r.got(t-2, j)) // which has read the slot
	did := r.p.reduce(out(seg.off), slot, in(seg.off), seg.elems, came)
	r.p.memo = append(r.p.memo, sent, did)
}

// pass is round t of the second half: piece Me-t+1 leaves, complete, and piece
// Me-t comes, over what this rank sent in round t of the first half.
func (r *ring) pass(t, j int) {
	n := r.s.N - 1
	seg := r.part(r.s.Me-t+1, j)
	sent := r.p.send(r.right, out(seg.off), seg.elems, r.got(n+t-1, j))
	seg = r.part(r.s.Me-t, j)
	came := r.p.recv(r.left, out(seg.off), seg.elems, r.sent(t, j))
	r.p.memo = append(r.p.memo, sent, came)
}

// ringAllgather passes each block on in the round after it came.
func ringAllgather(p *Plan, s *Shape) {
	mine, elems := s.outBlock(s.Me)
	p.copy(mine, in(0), elems)
	last := none
	for t := range s.N - 1 {
		from, elems := s.outBlock(s.mod(s.Me - t))
		if t == 0 {
			from = in(0)
		}
		p.send(s.mod(s.Me+1), from, elems, last)
		to, elems := s.outBlock(s.mod(s.Me - t - 1))
		last = p.recv(s.mod(s.Me-1), to, elems)
	}
}

// ringReduceScatter sends each block once round the ring, from the rank after
// the one that owns it, and every rank adds its own. Commutative only.
func ringReduceScatter(p *Plan, s *Shape) {
	own, elems := s.inBlock(s.Me)
	if s.N == 1 {
		p.copy(out(0), own, elems)
		return
	}
	longest := 0
	for i := range s.N {
		_, elems := s.inBlock(i)
		longest = max(longest, elems)
	}
	slots := p.slots(min(s.N-1, 2), longest)
	have, last, older := Ref{}, none, none
	for t := range s.N - 1 {
		from, elems := s.inBlock(s.mod(s.Me - 1 - t))
		if t > 0 {
			from = have
		}
		sent := p.send(s.mod(s.Me+1), from, elems, last)
		add, elems := s.inBlock(s.mod(s.Me - 2 - t))
		slot := slots[t%2]
		r := p.recv(s.mod(s.Me-1), slot, elems, older)
		have = slot
		if t == s.N-2 {
			have = out(0)
		}
		// What is combined here leaves in the next round, and then the slot is free.
		last = p.reduce(have, slot, add, elems, r)
		older = sent
		if t == 0 {
			older = none // that one left from Input
		}
	}
}
