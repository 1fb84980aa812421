package sched

// doublingScan is the recursive doubling of Hillis and Steele (1986). Before the step of distance d
// a rank has the combination of the d ranks up to itself. The rank receives the combination of the
// d ranks before, and sends its own to the rank d up. Any number of ranks, in order.
func doublingScan(p *Plan, s *Shape) {
	slots := p.slots(min(ceilLog2(s.Me+1), 2), s.Count)
	have, last, older := in(0), none, none
	for turn, d := 0, 1; d < s.N; turn, d = turn+1, d<<1 {
		sent := none
		if s.Me+d < s.N {
			sent = p.send(s.Me+d, have, s.Count, last)
		}
		if s.Me < d {
			continue
		}
		slot := slots[turn%2]
		r := p.recv(s.Me-d, slot, s.Count, older)
		older, last = last, p.reduce(out(0), slot, have, s.Count, r, last, sent)
		have = out(0)
	}
	if s.Me == 0 {
		p.copy(out(0), have, s.Count)
	}
}

// doublingExscan does the same, but this rank's own contribution is only in its messages, not in
// its result. Output of rank 0 does not change.
func doublingExscan(p *Plan, s *Shape) {
	slots := p.slots(min(ceilLog2(s.Me+1), 2), s.Count)
	acc, have, last, result := Ref{}, in(0), none, none
	readers := [2][2]int32{{none, none}, {none, none}} // of the slots
	for turn, d := 0, 1; d < s.N; turn, d = turn+1, d<<1 {
		sent := none
		if s.Me+d < s.N {
			sent = p.send(s.Me+d, have, s.Count, last)
		}
		if s.Me < d {
			continue
		}
		slot, reader := slots[turn%2], &readers[turn%2]
		r := p.recv(s.Me-d, slot, s.Count, reader[0], reader[1])
		if s.Me+2*d < s.N { // one more send follows
			if turn == 0 {
				acc = p.alloc(s.Count)
			}
			last = p.reduce(acc, slot, have, s.Count, r, last, pick(have == acc, sent, none))
			have = acc
		}
		if turn == 0 { // in place this overwrites elements that were sent and combined
			result = p.copy(out(0), slot, s.Count, r, last, sent)
		} else {
			result = p.reduce(out(0), slot, out(0), s.Count, r, result)
		}
		*reader = [2]int32{result, last}
	}
}

// linearScan combines from rank to rank, segment by segment, in order.
func linearScan(p *Plan, s *Shape) {
	if s.Me == 0 {
		p.sendUp(s)
		p.copy(out(0), in(0), s.Count)
		return
	}
	slot := p.alloc(s.Count)
	for i := range s.segments(s.Count) {
		seg := s.segment(i)
		r := p.recv(s.Me-1, slot.plus(seg.off), seg.elems)
		did := p.reduce(out(seg.off), slot.plus(seg.off), in(seg.off), seg.elems, r)
		if s.Me+1 < s.N {
			p.send(s.Me+1, out(seg.off), seg.elems, did)
		}
	}
}

// linearExscan works like linearScan; Output of rank 0 does not change.
func linearExscan(p *Plan, s *Shape) {
	if s.Me == 0 {
		p.sendUp(s)
		return
	}
	slot, acc := p.alloc(s.Count), Ref{}
	if s.Me+1 < s.N {
		acc = p.alloc(s.Count)
	}
	for i := range s.segments(s.Count) {
		seg := s.segment(i)
		r, did := p.recv(s.Me-1, slot.plus(seg.off), seg.elems), none
		if s.Me+1 < s.N {
			did = p.reduce(acc.plus(seg.off), slot.plus(seg.off), in(seg.off), seg.elems, r)
			p.send(s.Me+1, acc.plus(seg.off), seg.elems, did)
		}
		p.copy(out(seg.off), slot.plus(seg.off), seg.elems, r, did) // in place this overwrites combined elements
	}
}

// sendUp sends Input to the next rank, if there is one.
func (p *Plan) sendUp(s *Shape) {
	for i := range s.segments(s.Count) {
		if seg := s.segment(i); s.Me+1 < s.N {
			p.send(s.Me+1, in(seg.off), seg.elems)
		}
	}
}
