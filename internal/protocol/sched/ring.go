package sched

// ringAllreduce sends n pieces of the vector round the ring twice: in the first round trip they are
// combined, and each ends at the rank before its first; in the second they are copied. Each rank
// sends every element about twice, to one neighbour only. The brackets differ from piece to piece
// and run round the ring, so the operation must be commutative. With Segment each piece is sent in
// several messages, and the next message travels while a rank combines the last.
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

// ring remembers in p.memo two steps for each round t and segment j: the Send, and the step that
// completed the received piece.
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

// slot returns the place where segment j of round t arrives: the place of segment j in the longest
// piece. The place in the segment's own piece would be wrong. Cut into 6 segments, a piece of 23
// has its fifth segment at 16 to 19, and a piece of 22 has its sixth segment at 19 to 21. This
// sixth segment would arrive while the fifth segment of two rounds before is still there, because
// the receive waits only for the sixth segment of that round.
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

// combine is round t of the first half: this rank sends piece Me-t, receives piece Me-t-1, and
// combines the received piece with its own elements.
func (r *ring) combine(t, j int) {
	seg := r.part(r.s.Me-t, j)
	from := out(seg.off)
	if t == 0 {
		from = in(seg.off)
	}
	sent := r.p.send(r.right, from, seg.elems, r.got(t-1, j))
	seg = r.part(r.s.Me-t-1, j)
	slot := r.slot(t, j)
	came := r.p.recv(r.left, slot, seg.elems, r.got(t-2, j)) // got(t-2, j) has read the slot
	did := r.p.reduce(out(seg.off), slot, in(seg.off), seg.elems, came)
	r.p.memo = append(r.p.memo, sent, did)
}

// pass is round t of the second half: this rank sends the complete piece Me-t+1 and receives piece
// Me-t. The received piece overwrites the elements that this rank sent in round t of the first
// half.
func (r *ring) pass(t, j int) {
	n := r.s.N - 1
	seg := r.part(r.s.Me-t+1, j)
	sent := r.p.send(r.right, out(seg.off), seg.elems, r.got(n+t-1, j))
	seg = r.part(r.s.Me-t, j)
	came := r.p.recv(r.left, out(seg.off), seg.elems, r.sent(t, j))
	r.p.memo = append(r.p.memo, sent, came)
}

// ringAllgather forwards each block in the round after its arrival.
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

// ringReduceScatter sends each block once round the ring, from the rank after its owner, and every
// rank adds its own block. Commutative only.
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
		// The combined block is sent in the next round, and then the slot is free.
		last = p.reduce(have, slot, add, elems, r)
		older = sent
		if t == 0 {
			older = none // the first block is sent from Input
		}
	}
}
