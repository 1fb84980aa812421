package sched

// inOrderReduce combines in the order of the ranks, for operations that do not commute. The
// brackets are those of a binomial tree over ranks 0, 1, ...: ((0 1)(2 3))((4 5)...), for every
// root, so that the result depends on the inputs alone, bit for bit. The root computes each bracket
// that contains it, and the first rank inside computes each other bracket. So no root waits for an
// additional message.
func inOrderReduce(p *Plan, s *Shape) {
	acc, slots := p.inOrderPlaces(s)
	for i := range s.segments(s.Count) {
		p.inOrderPart(s, s.segment(i), acc, slots)
	}
}

// inOrderPlaces returns the place where a rank combines, and the places where it receives.
func (p *Plan) inOrderPlaces(s *Shape) (acc Ref, slots [2]Ref) {
	receives := 0
	for k := 0; 1<<k < s.N && s.bracketOwner(k) == s.Me; k++ {
		if s.sibling(k)<<k < s.N && s.bracketOwner(k+1) == s.Me {
			receives++
		}
	}
	acc = out(0)
	if s.Me != s.Root && receives > 0 {
		acc = p.alloc(s.Count)
	}
	return acc, p.slots(min(receives, 2), s.Count)
}

// bracketOwner returns the rank that computes the bracket of 2^k ranks around Me.
func (s *Shape) bracketOwner(k int) int { return s.ownerOf(s.Me>>k, k) }

func (s *Shape) ownerOf(bracket, k int) int {
	if s.Root>>k == bracket {
		return s.Root
	}
	return bracket << k
}

// sibling returns the bracket of 2^k ranks that is combined with the bracket of Me.
func (s *Shape) sibling(k int) int { return s.Me>>k ^ 1 }

// inOrderPart combines one part of the vector. After the returned step the result is at the root;
// at other ranks this step has read Input.
func (p *Plan) inOrderPart(s *Shape, seg part, acc Ref, slots [2]Ref) int32 {
	have, last, older := in(seg.off), none, none
	acc = acc.plus(seg.off)
	for k, turn := 0, 0; 1<<k < s.N; k++ {
		sib := s.sibling(k)
		if sib<<k >= s.N {
			continue
		}
		if owner := s.bracketOwner(k + 1); owner != s.Me {
			return p.send(owner, have, seg.elems, last)
		}
		slot := slots[turn%2].plus(seg.off)
		r := p.recv(s.ownerOf(sib, k), slot, seg.elems, older)
		left, right := have, slot
		if sib<<k < s.Me {
			left, right = slot, have
		}
		older, last = last, p.reduce(acc, left, right, seg.elems, r, last)
		have, turn = acc, turn+1
	}
	if s.N == 1 {
		last = p.copy(acc, have, seg.elems)
	}
	return last
}

// reduceBcast is an Allreduce in order: to rank 0 and down a binomial tree. Each
// segment comes down as soon as it is combined.
func reduceBcast(p *Plan, s *Shape) {
	top := *s
	top.Root = 0
	acc, slots := p.inOrderPlaces(&top)
	parent := p.knomial(&top, 2)
	for i := range s.segments(s.Count) {
		// In place, the result may overwrite Input once Input has been sent.
		last := p.inOrderPart(&top, s.segment(i), acc, slots)
		p.bcastPart(parent, s.segment(i), last)
	}
}
